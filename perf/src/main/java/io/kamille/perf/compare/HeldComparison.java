package io.kamille.perf.compare;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;

/** How many connections to an origin slow clients hold. */
@Command
public final class HeldComparison extends Comparison {

  /*
   * Clients begin within a quarter of --seconds, and each takes its own time, three to five quarters
   * of it: a crowd that comes or ends at once needs connections at once. Quick ones come before them,
   * so that the server is not cold.
   */
  private static final int READERS = 200;
  private static final int QUICK = 100;
  private static final int PIECES = 64;
  private static final int PIECE_BYTES = 1024;
  private static final int SMALL_BUFFER = 8 << 10;
  private static final int LARGE_BYTES = 1 << 20;
  private static final int BACKLOG = 1024;
  private static final int SAMPLE_MILLIS = 20;
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));
  private static final String UPLOADS = "slow uploads";
  private static final String READS = "slow reads";

  private static final Figure PEAK = Figure.of("open_peak");
  private static final Figure MEAN = Figure.of("open_mean");
  private static final Figure FAILED = Figure.of("failed");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("open, peak", PEAK, 0),
          Column.spread("open, mean", MEAN, 1),
          Column.sum("failed", FAILED));

  /** One client, which takes so long. */
  @FunctionalInterface
  private interface Client {
    void run(Socket socket, int millis) throws IOException, InterruptedException;
  }

  /** With 500 uploads. */
  public HeldComparison() {
    super(1, 20, 500);
  }

  @Override
  void run() throws IOException, InterruptedException {
    loadFromHere();
    List<Peer> peers = installed(List.of("kamille", "nginx"));
    fact(
        "run",
        "%d chunked uploads of 64 KiB, %d readers of 1 MiB, about %d s each",
        connections,
        READERS,
        seconds);
    begin();
    var samples = new Samples("clients");
    for (int round = 1; round <= rounds; round++) {
      for (Peer peer : peers) {
        samples.add(measure(peer, UPLOADS, round, connections, HeldComparison::upload));
        samples.add(measure(peer, READS, round, READERS, HeldComparison::read));
      }
    }
    List.of(UPLOADS, READS).forEach(one -> print(samples.table(one, one, COLUMNS)));
    print(List.of(goal(UPLOADS), goal(READS)), samples);
    keep(samples);
  }

  private static Goal goal(String clients) {
    return Goal.atMost(
        8, clients + ": at most 8 connections", all -> all.spread(PEAK, clients, "kamille"));
  }

  private Sample measure(Peer peer, String label, int round, int count, Client client)
      throws IOException, InterruptedException {
    int port = Workbench.freePort();
    HttpServer origin = HttpServer.create(local(0), BACKLOG);
    int originPort = origin.getAddress().getPort();
    origin.createContext("/", HeldComparison::answer);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      origin.setExecutor(threads);
      origin.start();
      var place = new Place(Job.PASS, port, originPort, count);
      Contestant server = Contestant.start(bench(), peer, place);
      try {
        for (int i = 0; i < QUICK; i++) {
          run(port, client, 0, 0);
        }
        var random = new Random(round);
        List<Future<?>> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          int begin = seconds * random.nextInt(250);
          int millis = seconds * random.nextInt(750, 1250);
          clients.add(threads.submit(() -> run(port, client, begin, millis)));
        }
        return watch(Sample.of(label, server.name(), round), originPort, clients);
      } finally {
        server.process().stop();
        origin.stop(0);
      }
    }
  }

  private static InetSocketAddress local(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** The origin: takes any upload, and answers GET by 1 MiB. */
  private static void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    exchange.getResponseHeaders().set("Cache-Control", "no-store");
    byte[] content = new byte[exchange.getRequestMethod().equals("GET") ? LARGE_BYTES : 2];
    exchange.sendResponseHeaders(200, content.length);
    exchange.getResponseBody().write(content);
    exchange.close();
  }

  private static Sample watch(Sample sample, int originPort, List<Future<?>> clients)
      throws IOException, InterruptedException {
    long peak = 0;
    double sum = 0;
    int looks = 0;
    while (!clients.stream().allMatch(Future::isDone)) {
      long open = connections(originPort);
      peak = Math.max(peak, open);
      sum += open;
      looks++;
      Thread.sleep(SAMPLE_MILLIS);
    }
    return sample
        .with(PEAK, peak)
        .with(MEAN, sum / looks)
        .with(FAILED, clients.stream().filter(one -> one.state() == Future.State.FAILED).count());
  }

  /** How many are established at that port of the origin, as the kernel says. */
  private static long connections(int port) throws IOException {
    var established =
        Pattern.compile(String.format(Locale.ROOT, " *\\d+: \\S+:%04X \\S+ 01 .*", port));
    long count = 0;
    for (Path table : TABLES) {
      if (Files.exists(table)) {
        List<String> lines = Files.readAllLines(table);
        count += lines.stream().filter(line -> established.matcher(line).matches()).count();
      }
    }
    return count;
  }

  private static Void run(int port, Client client, int begin, int millis)
      throws IOException, InterruptedException {
    Thread.sleep(begin);
    try (var socket = new Socket()) {
      socket.setReceiveBufferSize(SMALL_BUFFER);
      socket.connect(local(port));
      client.run(socket, millis);
      return null;
    }
  }

  private static void upload(Socket socket, int millis) throws IOException, InterruptedException {
    send(socket, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    String piece = Integer.toHexString(PIECE_BYTES) + "\r\n" + "x".repeat(PIECE_BYTES) + "\r\n";
    for (int i = 0; i < PIECES; i++) {
      Thread.sleep(millis / PIECES);
      send(socket, piece);
    }
    send(socket, "0\r\n\r\n");
    String status = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
    if (!status.equals("HTTP/1.1 200")) {
      throw new IOException("answered: " + status);
    }
  }

  private static void read(Socket socket, int millis) throws IOException, InterruptedException {
    send(socket, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    int part = LARGE_BYTES / (PIECES * 2);
    for (int i = 0; i < PIECES * 2; i++) {
      Thread.sleep(millis / (PIECES * 2));
      if (socket.getInputStream().readNBytes(part).length < part) {
        throw new IOException("cut");
      }
    }
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }
}
