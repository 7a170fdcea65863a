package io.kamille.perf.soak;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Commands;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Metrics;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * What {@code ./dev soak} runs: Kamille between clients and origins of every kind, all at once, and
 * then a look whether every content was right and nothing is left.
 */
public final class Soak {

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

  static final Options OPTIONS =
      Options.none()
          .text(
              "--seed",
              "N",
              "",
              Pattern.compile("[0-9]{1,18}"),
              "what clients do, and in which order; the time if not said")
          .number("--clients", 96, 1, 100_000, "how many at once, besides crowds")
          .directory("perf/target/soak-TIME");

  private static final String HELP =
      "./dev soak MINUTES [OPTIONS]   everything at once, then look whether anything is left\n";
  private static final int SECONDS_PER_MINUTE = 60;

  private final long seconds;
  private final long seed;
  private final int clients;
  private final Path directory;
  private final Consumer<String> out;
  private final Tally tally = new Tally();
  private final Versions versions = new Versions();
  private final Growth growth = new Growth();

  /**
   * A soak.
   *
   * @param seconds how long the load lasts
   * @param seed decides what each client does in which order; not how they interleave
   * @param directory where logs go
   */
  private Soak(long seconds, long seed, int clients, Path directory, Consumer<String> out) {
    this.seconds = seconds;
    this.seed = seed;
    this.clients = clients;
    this.directory = directory;
    this.out = out;
  }

  /** Runs for as many minutes as the first argument says. */
  public static void main(String[] arguments) throws InterruptedException {
    List<String> words = List.of(arguments);
    if (Commands.asksForHelp(words)) {
      System.out.print(HELP + OPTIONS.help());
      return;
    }
    Commands.orFail("soak", () -> System.exit(start(words)));
  }

  private static int start(List<String> words) throws IOException, InterruptedException {
    long seconds = seconds(words.getFirst());
    Chosen chosen = OPTIONS.parse(words.subList(1, words.size()));
    String named = chosen.textOrNull("--seed");
    long seed = named == null ? System.currentTimeMillis() : Long.parseLong(named);
    var checkout = Checkout.find();
    Path directory = checkout.results(chosen.textOrNull("--to"), "soak").toAbsolutePath();
    try (var log = print(directory.resolve("soak.log"))) {
      Consumer<String> out =
          line -> {
            System.out.println(line);
            log.println(line);
          };
      out.accept("commit " + checkout.commit() + ", seed " + seed);
      var soak = new Soak(seconds, seed, chosen.number("--clients"), directory, out);
      return soak.run(command(checkout)) ? 0 : FAILED;
    }
  }

  /**
   * The duration that a word says in minutes.
   *
   * @throws IllegalArgumentException if it says none of a second or more
   */
  static long seconds(String minutes) {
    long seconds =
        minutes.matches("[0-9]{1,6}(\\.[0-9]{1,6})?")
            ? Math.round(Double.parseDouble(minutes) * SECONDS_PER_MINUTE)
            : 0;
    if (seconds < 1) {
      throw new IllegalArgumentException(minutes + " (expected: MINUTES, a second at least)");
    }
    return seconds;
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
    var random = new SplittableRandom(seed);
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
      Workbench.deleteTree(files);
    }
    return summary();
  }

  private void soak(SoakServer server, SoakOrigin sometimesDown, SplittableRandom random)
      throws IOException, InterruptedException {
    var leaks = new LeakCheck(server);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    var threads = new ArrayList<Thread>();
    var scene = new SoakClient.Scene(server.port(), versions, tally, new Semaphore(CROWDS));
    for (int i = 0; i < clients; i++) {
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
    look(server, leaks);
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

  private void look(SoakServer server, LeakCheck leaks) throws IOException, InterruptedException {
    out.accept("no more requests; waiting until everything is at rest");
    leaks.awaitIdle().forEach(left -> tally.fail("not at rest: " + left));
    Metrics metrics = server.control().metrics();
    leaks.purgeAll().forEach(left -> tally.fail("not forgotten: " + left));
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
      Workbench.deleteTree(files);
    } catch (IOException e) {
      System.err.println("soak: could not clear up: " + e);
    }
  }
}
