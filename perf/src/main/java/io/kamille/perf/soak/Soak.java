package io.kamille.perf.soak;

import io.kamille.perf.host.Checkout;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * What {@code ./dev soak} runs: Kamille between clients and origins of every kind, all at once, and
 * then a look whether every content was right and nothing is left.
 */
public final class Soak {

  private static final int USAGE = 64;
  private static final int UNAVAILABLE = 69;
  private static final int FAILED = 1;
  private static final int CROWDS = 3;
  private static final int LINE_SECONDS = 60;
  private static final long SECOND_MILLIS = 1000;
  private static final long MIB = 1 << 20;

  /** Heap of the proxy, all of it touched at start: what grows then is something else. */
  private static final int HEAP_MIB = 192;

  /** What may be live of it at the end: tables of fixed size, pools, classes' own objects. */
  private static final long LIVE_HEAP_BYTES = 96 * MIB;

  /** By how much resident memory may grow from the second quarter on. */
  private static final long GROWTH_BYTES = 24 * MIB;

  /** A machine that stands still may let a sound origin seem dead, but seldom. */
  private static final double TROUBLE_SHARE = 0.001;

  private static final double BREAK_SHARE = 0.01;

  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

  private final SoakOptions options;
  private final Path directory;
  private final Consumer<String> out;
  private final Tally tally = new Tally();
  private final Versions versions = new Versions();
  private final Growth growth = new Growth();

  Soak(SoakOptions options, Path directory, Consumer<String> out) {
    this.options = options;
    this.directory = directory;
    this.out = out;
  }

  /** Runs for as many minutes as the first argument says. */
  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length == 0 || arguments[0].startsWith("-")) {
      System.out.println(SoakOptions.HELP);
      return;
    }
    try {
      System.exit(start(List.of(arguments)));
    } catch (IllegalArgumentException e) {
      System.err.println("soak: " + e.getMessage());
      System.exit(USAGE);
    } catch (IOException e) {
      System.err.println("soak: " + e.getMessage());
      System.exit(UNAVAILABLE);
    }
  }

  private static int start(List<String> arguments) throws IOException, InterruptedException {
    var options = SoakOptions.parse(arguments, System.currentTimeMillis());
    var checkout = Checkout.find();
    Path directory = options.directory();
    if (directory == null) {
      String stamp = LocalDateTime.now(ZoneOffset.UTC).format(STAMP);
      directory = checkout.root().resolve("perf/target/soak").resolve(stamp);
    }
    Files.createDirectories(directory);
    try (var log = print(directory.resolve("soak.log"))) {
      Consumer<String> out =
          line -> {
            System.out.println(line);
            log.println(line);
          };
      out.accept("commit " + checkout.commit() + ", seed " + options.seed());
      var soak = new Soak(options, directory.toAbsolutePath(), out);
      return soak.run(command(checkout)) ? 0 : FAILED;
    }
  }

  private static PrintStream print(Path file) throws IOException {
    return new PrintStream(Files.newOutputStream(file), true, StandardCharsets.UTF_8);
  }

  private static List<String> command(Checkout checkout) {
    String java = String.join(" ", javaOptions());
    return List.of("env", "KAMILLE_JAVA_OPTS=" + java, checkout.kamille().toString());
  }

  /** With leak detection, and a heap that does not grow. */
  static List<String> javaOptions() {
    return List.of(
        "-Xms" + HEAP_MIB + "m",
        "-Xmx" + HEAP_MIB + "m",
        "-XX:+AlwaysPreTouch",
        "-Dio.netty.leakDetection.level=advanced");
  }

  /**
   * Starts Kamille by that command, loads it, and looks.
   *
   * @return whether nothing was wrong
   */
  boolean run(List<String> command) throws IOException, InterruptedException {
    var random = new SplittableRandom(options.seed());
    Path files = Files.createTempDirectory("kamille-soak");
    try (var sound = SoakOrigin.open(versions, tally, random.nextLong());
        var shaky = SoakOrigin.open(versions, tally, random.nextLong());
        var sometimesDown = SoakOrigin.open(versions, tally, random.nextLong())) {
      var ports = new SoakServer.Ports(sound.port(), shaky.port(), sometimesDown.port());
      var server = SoakServer.start(command, files, ports);
      var hook = new Thread(() -> stop(server, files), "soak-end");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        soak(server, sometimesDown, random);
      } finally {
        server.close();
        keepLog(server);
        checkLog(server);
        remove(hook);
      }
    } finally {
      deleteTree(files);
    }
    return summary();
  }

  private void soak(SoakServer server, SoakOrigin sometimesDown, SplittableRandom random)
      throws IOException, InterruptedException {
    var rest = new Rest(server);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(options.seconds());
    var threads = new ArrayList<Thread>();
    var scene = new SoakClient.Scene(server.port(), versions, tally, new Semaphore(CROWDS));
    for (int i = 0; i < options.clients(); i++) {
      var client = new SoakClient(scene, random.split());
      threads.add(Thread.ofVirtual().start(() -> client.run(end)));
    }
    var operator = new SoakOperator(server, sometimesDown, versions, tally, random.split());
    threads.add(Thread.ofPlatform().name("soak-operator").start(() -> operator.run(end)));
    watch(server, threads);
    if (!server.isAlive()) {
      tally.fail("Kamille has ended");
      return;
    }
    look(server, rest);
  }

  /** Reads memory each second and prints a line a minute, until all are done. */
  private void watch(SoakServer server, List<Thread> threads)
      throws IOException, InterruptedException {
    long began = System.nanoTime();
    long lines = 0;
    for (Thread thread : threads) {
      while (!thread.join(Duration.ofMillis(SECOND_MILLIS)) && server.isAlive()) {
        growth.add(server.residentBytes());
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        if (seconds / LINE_SECONDS > lines) {
          lines = seconds / LINE_SECONDS;
          out.accept(line(seconds, server));
        }
      }
    }
  }

  private String line(long seconds, SoakServer server) throws IOException {
    return String.format(
        Locale.ROOT,
        "%4d s  %,d deeds  %,d right  %,d from the origins  %d MiB resident  %d wrong",
        seconds,
        tally.sum("deed."),
        tally.of("answer.CONTENT"),
        tally.of("origin.answered"),
        server.residentBytes() / MIB,
        tally.failed());
  }

  private void look(SoakServer server, Rest rest) throws IOException, InterruptedException {
    out.accept("no more requests; waiting until everything is at rest");
    rest.await().forEach(left -> tally.fail("not at rest: " + left));
    Metrics metrics = server.metrics();
    rest.forgetAll().forEach(left -> tally.fail("not forgotten: " + left));
    long live = server.liveHeapBytes();
    out.accept("live heap " + live / MIB + " MiB (at most " + LIVE_HEAP_BYTES / MIB + ")");
    if (live > LIVE_HEAP_BYTES) {
      tally.fail("live heap: " + live + " octets");
    }
    String bound = growth.isTelling() ? "at most " + GROWTH_BYTES / MIB : "too short to judge";
    out.accept("resident memory grew by " + growth.bytes() / MIB + " MiB (" + bound + ")");
    if (growth.isTelling() && growth.bytes() > GROWTH_BYTES) {
      tally.fail("resident memory grew by " + growth.bytes() + " octets");
    }
    for (String name :
        List.of(
            "kamille_cache_collapsed_total",
            "kamille_cache_evictions_total",
            "kamille_cache_memory_shortages_total",
            "kamille_cache_region_bytes_total",
            "kamille_cache_slow_readers_total",
            "kamille_cache_disk_written_bytes_total",
            "kamille_cache_disk_damaged_total",
            "kamille_cache_disk_reads_total",
            "kamille_cache_peak_skipped_total",
            "kamille_cache_compressions_total",
            "kamille_upstream_retries_total",
            "kamille_upstream_ejections_total")) {
      out.accept(name + " " + metrics.sum(name));
    }
  }

  private void checkLog(SoakServer server) throws IOException {
    server.troubleInLog().forEach(line -> tally.fail("in the log: " + line));
    if (server.exitValue() != 0) {
      tally.fail("Kamille ended with status " + server.exitValue());
    }
  }

  private void keepLog(SoakServer server) throws IOException {
    Files.copy(server.log(), directory.resolve("kamille.log"), StandardCopyOption.REPLACE_EXISTING);
  }

  private void checkTrouble() {
    if (tally.of("answer.CONTENT") == 0) {
      tally.fail("no request was answered with content");
    }
    long breaks = tally.of("unexpected-break");
    if (breaks > tally.sum("answer.") * BREAK_SHARE) {
      tally.fail(breaks + " answers of sound origins broke off");
    }
    long trouble = tally.of("unexpected-trouble");
    if (trouble > tally.sum("answer.") * TROUBLE_SHARE) {
      tally.fail(trouble + " requests to sound origins were answered with an error");
    }
  }

  private boolean summary() {
    checkTrouble();
    for (String kind :
        List.of("deed.", "answer.", "cache.", "fault.", "order.", "broken.", "origin.")) {
      out.accept(kind.replace(".", "s: ") + String.join(", ", tally.lines(kind)));
    }
    for (String other : List.of("invalidated", "purged", "again", "unexpected-trouble")) {
      out.accept(other + " " + tally.of(other));
    }
    tally.lines("trouble.").forEach(out);
    tally.failures().forEach(failure -> out.accept("WRONG " + failure));
    out.accept(tally.failed() == 0 ? "nothing was wrong" : tally.failed() + " things were wrong");
    return tally.failed() == 0;
  }

  private static void remove(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shuttingDown) {
      // Then it runs.
    }
  }

  private static void stop(SoakServer server, Path files) {
    try {
      server.close();
      deleteTree(files);
    } catch (IOException e) {
      System.err.println("soak: could not clear up: " + e);
    }
  }

  private static void deleteTree(Path top) throws IOException {
    if (!Files.exists(top)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(top)) {
      tree.sorted(Comparator.reverseOrder())
          .forEach(
              path -> {
                try {
                  Files.deleteIfExists(path);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    }
  }
}
