package io.kamille.perf.lab;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.OriginStub;
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

  /** Nobody else is in the namespace. */
  private static final int PORT = 8080;

  private static final int ORIGIN_PORT = 9000;
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Child process;

  private WanServer(Child process) {
    this.process = process;
  }

  /** Starts the origin of all servers; the bench ends it. */
  static void startOrigin(Workbench bench, Namespaces spaces)
      throws IOException, InterruptedException {
    List<String> command = Jvm.command(OriginStub.class, List.of(), ORIGIN_PORT);
    Child origin = bench.start("origin", Core.OTHERS, spaces.atServer(command));
    await(spaces, origin, new InetSocketAddress(InetAddress.getLoopbackAddress(), ORIGIN_PORT));
  }

  /** Starts one as a cache in memory before the origin. */
  static WanServer start(
      Workbench bench, Namespaces spaces, Peer peer, Opponents setups, int connections)
      throws IOException, InterruptedException {
    Path directory = bench.directory(peer.name());
    var place =
        new Place(Job.HIT, Namespaces.SERVER_ADDRESS, PORT, ORIGIN_PORT, connections, List.of());
    List<String> command = peer.prepare(directory, place);
    setups.keep(peer, directory, command);
    Child process = bench.start(peer.name(), Core.SERVER, spaces.atServer(command));
    try {
      await(spaces, process, address());
      return new WanServer(process);
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

  @Override
  public void close() {
    process.stop();
  }
}
