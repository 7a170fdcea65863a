package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.DiskStore;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/** How soon a process serves that has many responses on its disk. */
public final class RecoveryMeasurement {

  /*
   * The store is written once, and each round starts a process on it and kills it in the end, so
   * that all rounds find the same. Times count from the call that starts the process. Responses are
   * asked for by their Host, with only-if-cached, so that nothing but the disk can answer, each
   * another one by chance: the first hit comes when the first part of the index is there, and hits
   * become the rule toward its end. Whether the files are in the kernel's memory is as the machine
   * leaves it: the first round after the writing is warm.
   */
  private static final int CONTENT_BYTES = 1000;
  private static final long RECORD_BYTES = 1408;
  private static final long CAPACITY_MINIMUM_BYTES = 64L << 20;
  private static final String HOST = "objects.example";
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(2);
  private static final double MILLIS = 1e6;
  private static final double GOAL_MILLIS = 1000;

  /** What can be chosen. */
  public static final Options OPTIONS =
      Options.none()
          .number("--objects", 1_000_000, 1, 99_999_999, "how many responses lie on the disk")
          .number("--rounds", 5, 1, 1000, "how many processes are started on them");

  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:%PORT%']
      loops: 1
      upstreams: {none: {origins: ['http://127.0.0.1:9']}}
      routes: [{upstream: none}]
      cache:
        memory: {capacity: 256MiB}
        disk: {path: '%STORE%', capacity: %CAPACITY%MiB, keep-memory: off, peak: off}
      log: {access: {enabled: off}}
      admin: {address: '127.0.0.1:%ADMIN%', token-file: '%TOKEN%'}
      """;

  /** Milliseconds from the start of the process. */
  private static final Figure SERVED = Figure.of("served_millis");

  private static final Figure HIT = Figure.of("hit_millis");
  private static final Figure LOADED = Figure.of("loaded_millis");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("the first answer ms", SERVED, 0),
          Column.spread("the first hit on the disk ms", HIT, 0),
          Column.spread("the index complete ms", LOADED, 0));

  private final Session session;
  private final int objects;
  private final SplittableRandom random = new SplittableRandom(5);

  private RecoveryMeasurement(Session session, int objects) {
    this.session = session;
    this.objects = objects;
  }

  /** Measures and prints. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    try (var session = Session.open(chosen)) {
      session.begin();
      new RecoveryMeasurement(session, chosen.number("--objects")).measure();
    }
  }

  private void measure() throws IOException {
    Path store = session.bench().directory("start").resolve("store");
    long capacity = Math.max(CAPACITY_MINIMUM_BYTES, objects * RECORD_BYTES * 5 / 4);
    long begin = System.nanoTime();
    byte[] content = new byte[CONTENT_BYTES];
    DiskStore.write(store, capacity, objects, i -> "http://" + HOST + path(i), _ -> content);
    System.out.printf(
        Locale.ROOT,
        "%n%,d responses of %,d octets written in %.1f s%n",
        objects,
        CONTENT_BYTES,
        (System.nanoTime() - begin) / 1e9);
    var samples = new Samples("");
    for (int round = 1; round <= session.rounds(); round++) {
      samples.add(round(round, store, capacity));
    }
    session.print(samples.table("from exec to", "", COLUMNS));
    var goal =
        Goal.atMost(
            GOAL_MILLIS,
            String.format(
                Locale.ROOT, "serving within 1000 ms with %,d responses on the disk", objects),
            all -> all.spread(SERVED, "", "kamille"));
    session.print("Goals of kamille", List.of(goal), samples);
  }

  private static String path(int number) {
    return "/objects/" + number;
  }

  private Sample round(int number, Path store, long capacity) throws IOException {
    int port = Workbench.freePort();
    int admin = Workbench.freePort();
    Path directory = session.bench().directory("start");
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            CONFIGURATION
                .replace("%PORT%", Integer.toString(port))
                .replace("%ADMIN%", Integer.toString(admin))
                .replace("%STORE%", store.toString())
                .replace("%CAPACITY%", Long.toString((capacity >> 20) + 1))
                .replace("%TOKEN%", directory.resolve("token").toString()));
    List<String> command =
        List.of(session.checkout().kamille().toString(), "run", "--config", file.toString());
    long begin = System.nanoTime();
    Child child = session.bench().start("start-" + number, Workbench.Core.SERVER, command);
    try {
      double served = await(begin, port, () -> path(objects), status -> status > 0);
      double hit = await(begin, port, this::anyPath, status -> status == 200);
      double loaded = await(begin, () -> metrics(admin).contains("kamille_cache_disk_recovered 1"));
      return Sample.of("", "kamille", number)
          .with(SERVED, served)
          .with(HIT, hit)
          .with(LOADED, loaded);
    } finally {
      child.kill();
    }
  }

  private String anyPath() {
    return path(random.nextInt(objects));
  }

  private interface Paths {
    String next();
  }

  private static double await(long begin, int port, Paths paths, Predicate<Integer> isIt)
      throws IOException {
    return await(
        begin,
        () -> {
          String answer = ask(port, HOST, "GET " + paths.next() + " HTTP/1.1", "only-if-cached");
          return isIt.test(answer.isEmpty() ? 0 : Integer.parseInt(answer.substring(9, 12)));
        });
  }

  private interface Claim {
    boolean isTrue() throws IOException;
  }

  /** Milliseconds until it is true. */
  private static double await(long begin, Claim claim) throws IOException {
    while (!claim.isTrue()) {
      if (System.nanoTime() - begin > LIMIT.toNanos()) {
        throw new IOException("it takes longer than " + LIMIT);
      }
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
    }
    return (System.nanoTime() - begin) / MILLIS;
  }

  private static String metrics(int port) {
    return ask(port, "127.0.0.1:" + port, "GET /metrics HTTP/1.1", "no-cache");
  }

  /** The whole answer, or nothing if nobody listens. */
  static String ask(int port, String host, String requestLine, String cacheControl) {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port);
        InputStream in = socket.getInputStream()) {
      String request =
          requestLine
              + "\r\nHost: "
              + host
              + "\r\nCache-Control: "
              + cacheControl
              + "\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    } catch (IOException refused) {
      return "";
    }
  }
}
