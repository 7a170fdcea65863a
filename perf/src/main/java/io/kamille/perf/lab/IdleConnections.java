package io.kamille.perf.lab;

import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.ControlPlane;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.LineChart.Point;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * How many connections a Kamille keeps open while new ones come, ask once and stay idle. Confined.
 */
final class IdleConnections {

  static final int LIMIT = 200;
  static final double THRESHOLD = 0.7;
  static final int NEW_PER_SECOND = 40;

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final int LOOK_EVERY = 10;
  private static final byte[] REQUEST =
      "GET /hit/64 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private IdleConnections() {}

  /**
   * Connections that were open, over seconds.
   *
   * @param threshold of the configuration: a ratio, or {@code off}
   */
  static List<Point> measure(Workbench bench, String threshold, Duration duration)
      throws IOException {
    int port = Workbench.freePort();
    var kamille = Kamille.of(Checkout.find()).withMetrics(Workbench.freePort());
    Path directory = bench.directory("idle-" + threshold);
    var place = new Place(Job.HIT, port, Origin.start(bench).port(), LIMIT);
    List<String> command = kamille.prepare(directory, place);
    Path file = directory.resolve("kamille.yaml");
    String text =
        Files.readString(file)
            .replaceFirst("(?m)^  connections: \\d+$", "  connections: " + LIMIT)
            .replace("idle-timeout: 1h", "idle-timeout: 75s")
            .replace("idle-threshold: off", "idle-threshold: " + threshold);
    Files.writeString(file, text);
    Child process = bench.start("kamille-idle-" + threshold, Core.SERVER, command);
    process.awaitListening(port, START_LIMIT);
    process.awaitListening(kamille.adminPort(), START_LIMIT);
    var control = new ControlPlane(kamille.adminPort(), directory, Duration.ofSeconds(2));
    var clients = new ArrayList<SocketChannel>();
    try {
      return count(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
          control,
          duration,
          clients);
    } finally {
      for (SocketChannel client : clients) {
        client.close();
      }
      process.stop();
    }
  }

  private static List<Point> count(
      InetSocketAddress server,
      ControlPlane control,
      Duration duration,
      List<SocketChannel> clients)
      throws IOException {
    var counts = new ArrayList<Point>();
    long begin = System.nanoTime();
    long wanted = NEW_PER_SECOND * duration.toSeconds();
    for (int i = 0; i < wanted; i++) {
      long due = begin + i * 1_000_000_000L / NEW_PER_SECOND;
      LockSupport.parkNanos(due - System.nanoTime());
      SocketChannel client = SocketChannel.open(server);
      clients.add(client);
      client.write(ByteBuffer.wrap(REQUEST));
      client.configureBlocking(false);
      if (i % LOOK_EVERY == 0) {
        leaveEnded(clients);
        double seconds = (System.nanoTime() - begin) / 1e9;
        counts.add(new Point(seconds, control.metrics().sum("kamille_connections")));
      }
    }
    return counts;
  }

  /** Closes what the server has ended, as clients do: until then it counts as open. */
  private static void leaveEnded(List<SocketChannel> clients) throws IOException {
    for (SocketChannel client : List.copyOf(clients)) {
      ByteBuffer answer = ByteBuffer.allocate(1024);
      int count = client.read(answer);
      if (count > 0) {
        count = client.read(answer.clear());
      }
      if (count < 0) {
        client.close();
        clients.remove(client);
      }
    }
  }

  /** The mean over the last third, as a share of the limit. */
  static double settled(List<Point> counts) {
    List<Point> last = counts.subList(counts.size() * 2 / 3, counts.size());
    return last.stream().mapToDouble(Point::y).average().orElse(0) / LIMIT;
  }
}
