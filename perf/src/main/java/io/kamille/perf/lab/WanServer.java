package io.kamille.perf.lab;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.SendMemory;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Responder;
import io.kamille.perf.peer.ControlPlane;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.wan.Namespaces;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A server at its end of the path, with the origin beside it. Confined. */
final class WanServer implements AutoCloseable {

  /** Of the control plane of a Kamille that has one. Nobody else is in the namespace. */
  static final int ADMIN_PORT = 9090;

  private static final int PORT = 8080;
  private static final int ORIGIN_PORT = 9000;
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Namespaces spaces;
  private final Child process;
  private final Path directory;

  private WanServer(Namespaces spaces, Child process, Path directory) {
    this.spaces = spaces;
    this.process = process;
    this.directory = directory;
  }

  /** Starts the origin of all servers; the bench ends it. */
  static void startOrigin(Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    List<String> command = Jvm.command(Responder.class, List.of(), ORIGIN_PORT);
    Child origin = bench.start("origin", Core.OTHERS, spaces.atServer(command));
    await(spaces, origin, new InetSocketAddress(InetAddress.getLoopbackAddress(), ORIGIN_PORT));
  }

  /**
   * Starts one as a cache in memory before the origin.
   *
   * @throws IOException if it is not installed, or does not start
   */
  static WanServer start(Workbench bench, Namespaces spaces, Peer peer, int connections)
      throws IOException, InterruptedException {
    String missing = peer.missing();
    if (missing != null) {
      throw new IOException(missing);
    }
    Path directory = bench.directory(peer.label());
    var place = new Place(Job.HIT, PORT, ORIGIN_PORT, connections).at(Namespaces.SERVER_ADDRESS);
    List<String> command = peer.prepare(directory, place);
    Child process = bench.start(peer.label(), Core.SERVER, spaces.atServer(command));
    try {
      await(spaces, process, address());
      return new WanServer(spaces, process, directory);
    } catch (IOException e) {
      process.stop();
      throw e;
    }
  }

  private static void await(Namespaces spaces, Child process, InetSocketAddress address)
      throws IOException, InterruptedException {
    spaces.callAtServer(
        () -> {
          process.awaitListening(address, START_LIMIT);
          return process;
        });
  }

  /** Where it listens, at its end of the path. */
  static InetSocketAddress address() {
    return new InetSocketAddress(Namespaces.SERVER_ADDRESS, PORT);
  }

  /** The name in Host. */
  static String authority() {
    return Namespaces.SERVER_ADDRESS + ":" + PORT;
  }

  CpuTime cpuTime() throws IOException {
    return process.cpuTime();
  }

  /** What the control plane of a Kamille says. */
  String ask(String path) throws IOException, InterruptedException {
    return spaces.callAtServer(
        () -> new ControlPlane(ADMIN_PORT, directory, ANSWER_LIMIT).get(path));
  }

  /** What the kernel holds to send for its clients, once so much time has passed. */
  SendMemory watchMemory(Duration settling) {
    return SendMemory.watch(spaces.atServer(List.of()), PORT, settling);
  }

  /** Decides on its send buffers from outside, newcomers at once. */
  SendBufferSplit split(BufferWay way, long budgetBytes, AllocationTrace trace) {
    return new SendBufferSplit(spaces.atServer(List.of()), PORT, way, budgetBytes, trace).begin();
  }

  @Override
  public void close() {
    process.stop();
  }
}
