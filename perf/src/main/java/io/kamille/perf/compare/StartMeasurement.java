package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.peer.DiskStore;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/** How soon a process serves that has many responses on its disk. */
public final class StartMeasurement {

  /*
   * The store is written once, and each round starts a process on it and kills it in the end, so that
   * all rounds find the same. Times count from the call that starts the process. Responses are asked
   * for by their Host, with only-if-cached, so that nothing but the disk can answer, each another one
   * by chance: the first hit comes when the first part of the index is there, and hits become the rule
   * toward its end. Whether the files are in the kernel's memory is as the machine leaves it: the
   * first round after the writing is warm.
   */
  private static final int CONTENT_BYTES = 1000;
  private static final long RECORD_BYTES = 1408;
  private static final long CAPACITY_MINIMUM_BYTES = 64L << 20;
  private static final String HOST = "objects.example";
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(2);
  private static final double MILLIS = 1e6;
  private static final double GOAL_MILLIS = 1000;
  private static final int DEFAULT_OBJECTS = 1_000_000;
  private static final int DEFAULT_ROUNDS = 5;

  /** What there is to say. */
  public static final String HELP =
      """
      --objects N       how many responses lie on the disk (default 1000000)
      --rounds N        how many processes are started on them (default 5)
      """;

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
  private record Round(double served, double hit, double loaded) {}

  private final Workbench bench;
  private final Checkout checkout;
  private final int objects;
  private final SplittableRandom random = new SplittableRandom(5);

  private StartMeasurement(Workbench bench, Checkout checkout, int objects) {
    this.bench = bench;
    this.checkout = checkout;
    this.objects = objects;
  }

  /**
   * Measures and prints.
   *
   * @param words of a command line: {@link #HELP}
   * @throws IllegalArgumentException if one is not understood
   * @throws IOException if the machine lacks what is needed
   */
  public static void run(List<String> words) throws IOException {
    int objects = DEFAULT_OBJECTS;
    int rounds = DEFAULT_ROUNDS;
    for (int i = 0; i + 1 < words.size() + words.size() % 2; i += 2) {
      switch (words.get(i)) {
        case "--objects" -> objects = number(words, i + 1);
        case "--rounds" -> rounds = number(words, i + 1);
        default -> throw new IllegalArgumentException("unknown option " + words.get(i));
      }
    }
    var checkout = Checkout.find();
    try (var bench = Workbench.open()) {
      new LinkedHashMap<>(HostFingerprint.take(checkout).facts())
          .forEach((name, value) -> System.out.println(name + ": " + value));
      new StartMeasurement(bench, checkout, objects).measure(rounds);
    }
  }

  private static int number(List<String> words, int index) {
    String value = index < words.size() ? words.get(index) : "";
    if (!value.matches("[1-9][0-9]{0,7}")) {
      throw new IllegalArgumentException(
          words.get(index - 1) + ": " + value + " (expected: a number from 1 to 99999999)");
    }
    return Integer.parseInt(value);
  }

  private void measure(int rounds) throws IOException {
    Path store = bench.directory("start").resolve("store");
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
    List<Round> measured = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      measured.add(round(i, store, capacity));
    }
    print(measured);
  }

  private static String path(int number) {
    return "/objects/" + number;
  }

  private Round round(int number, Path store, long capacity) throws IOException {
    int port = Workbench.freePort();
    int admin = Workbench.freePort();
    Path directory = bench.directory("start");
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
        List.of(checkout.kamille().toString(), "run", "--config", file.toString());
    long begin = System.nanoTime();
    Child child = bench.start("start-" + number, Workbench.Core.SERVER, command);
    try {
      double served = await(begin, port, () -> path(objects), status -> status > 0);
      double hit = await(begin, port, this::anyPath, status -> status == 200);
      double loaded = await(begin, () -> metrics(admin).contains("kamille_cache_disk_recovered 1"));
      return new Round(served, hit, loaded);
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
  private static String ask(int port, String host, String requestLine, String cacheControl) {
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

  private void print(List<Round> rounds) {
    Spread served = Spread.of(rounds, Round::served);
    var table = new Table("from exec to", "ms");
    table.row(List.of("the first answer", served.text(0)));
    table.row(List.of("the first hit on the disk", Spread.of(rounds, Round::hit).text(0)));
    table.row(List.of("the index complete", Spread.of(rounds, Round::loaded).text(0)));
    System.out.println();
    System.out.println(table);
    System.out.println(
        (served.median() <= GOAL_MILLIS ? "met     " : "missed  ")
            + "serving within 1 s with "
            + String.format(Locale.ROOT, "%,d", objects)
            + " responses on the disk: "
            + served.text(0)
            + " ms");
  }
}
