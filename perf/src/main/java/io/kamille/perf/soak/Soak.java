package io.kamille.perf.soak;

import io.kamille.perf.Program;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Workbench;
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
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * What {@code ./dev soak} runs: Kamille between clients and origins of every kind, all at once, and
 * then a look whether every content was right and nothing is left.
 */
@Command(name = "soak", mixinStandardHelpOptions = true)
public final class Soak implements Callable<Integer> {

  private static final int FAILED = 1;
  private static final int CROWDS = 3;
  private static final int LINE_SECONDS = 60;
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final long MIB = 1 << 20;

  /** What may be live of the heap at the end: tables of fixed size, pools, classes' own objects. */
  private static final long LIVE_HEAP_BYTES = 96 * MIB;

  /** By how much resident memory may grow from the second quarter on. */
  private static final long GROWTH_BYTES = 24 * MIB;

  /** A machine that stands still may let a sound origin seem dead, but seldom. */
  private static final double TROUBLE_SHARE = 0.001;

  private static final double BREAK_SHARE = 0.01;

  @Parameters(paramLabel = "MINUTES", description = "how long clients go on")
  private double minutes = 1;

  @Option(
      names = "--seed",
      description = "what clients do, and in which order; the time if not said")
  private long seed = System.currentTimeMillis();

  @Option(names = "--clients", description = "how many at once, besides crowds (${DEFAULT-VALUE})")
  private int clients = 96;

  @Option(names = "--to", paramLabel = "DIR", description = "perf/target/soak-TIME if not said")
  private @Nullable Path to;

  private @Nullable PrintStream log;
  private final Tally tally = new Tally();
  private final Versions versions = new Versions();
  private final Growth growth = new Growth();

  private Soak() {}

  /** Runs for as many minutes as the first argument says. */
  public static void main(String[] arguments) {
    Program.run(new CommandLine(new Soak()), arguments);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(minutes > 0)) {
      throw new IOException(minutes + " (expected: MINUTES, more than zero)");
    }
    var checkout = Checkout.find();
    Path directory = checkout.results(to, "soak").toAbsolutePath();
    var file = Files.newOutputStream(directory.resolve("soak.log"));
    try (var printed = new PrintStream(file, true, StandardCharsets.UTF_8);
        var bench = Workbench.open()) {
      log = printed;
      tell("commit " + checkout.commit() + ", seed " + seed);
      run(bench, checkout.kamille(), directory.resolve("kamille.log"));
      return summary() ? 0 : FAILED;
    }
  }

  private void tell(String line) {
    System.out.println(line);
    if (log != null) {
      log.println(line);
    }
  }

  /** Starts Kamille, loads it, looks, and keeps its log. */
  private void run(Workbench bench, Path program, Path kept)
      throws IOException, InterruptedException {
    var random = new SplittableRandom(seed);
    try (var sound = new SoakOrigin(versions, tally, random.nextLong());
        var shaky = new SoakOrigin(versions, tally, random.nextLong());
        var sometimesDown = new SoakOrigin(versions, tally, random.nextLong())) {
      var origins =
          Map.of("%SOUND%", sound.port(), "%SHAKY%", shaky.port(), "%DOWN%", sometimesDown.port());
      var server = SoakServer.start(bench, program, origins);
      try {
        soak(server, sometimesDown, random);
      } finally {
        int status = server.stop();
        Files.copy(server.process().log(), kept, StandardCopyOption.REPLACE_EXISTING);
        server.troubleInLog().forEach(line -> tally.fail("in the log: " + line));
        if (status != 0) {
          tally.fail("Kamille ended with status " + status);
        }
      }
    }
  }

  private void soak(SoakServer server, SoakOrigin sometimesDown, SplittableRandom random)
      throws IOException, InterruptedException {
    var leaks = new LeakCheck(server, server.descriptors());
    long end = System.nanoTime() + Math.round(minutes * 60e9);
    var threads = new ArrayList<Thread>();
    var scene = new SoakClient.Scene(server.port(), versions, tally, new Semaphore(CROWDS));
    for (int i = 0; i < clients; i++) {
      var client = new SoakClient(scene, random.split());
      threads.add(Thread.ofVirtual().start(() -> client.run(end)));
    }
    var operator = new SoakOperator(server, sometimesDown, versions, tally, random.split());
    threads.add(Thread.ofPlatform().name("soak-operator").start(() -> operator.run(end)));
    watch(server, threads);
    if (server.process().isAlive()) {
      inspect(server, leaks);
    } else {
      tally.fail("Kamille has ended");
    }
  }

  /** Reads memory each second and prints a line a minute, until all are done. */
  private void watch(SoakServer server, List<Thread> threads)
      throws IOException, InterruptedException {
    long began = System.nanoTime();
    long lines = 0;
    for (Thread thread : threads) {
      while (!thread.join(LOOK) && server.process().isAlive()) {
        growth.add(server.residentBytes());
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        if (seconds / LINE_SECONDS > lines) {
          lines = seconds / LINE_SECONDS;
          tell(line(seconds, server.residentBytes()));
        }
      }
    }
  }

  private String line(long seconds, long residentBytes) {
    return String.format(
        Locale.ROOT,
        "%4d s  %,d deeds  %,d right  %,d from the origins  %d MiB resident  %d wrong",
        seconds,
        tally.sum("deed."),
        tally.sum("answer.CONTENT"),
        tally.sum("origin.answered"),
        residentBytes / MIB,
        tally.failed());
  }

  private void inspect(SoakServer server, LeakCheck leaks)
      throws IOException, InterruptedException {
    tell("no more requests; waiting until everything is at rest");
    leaks.awaitIdle().forEach(left -> tally.fail("not at rest: " + left));
    Metrics metrics = server.control().metrics();
    leaks.purgeAll().forEach(left -> tally.fail("not forgotten: " + left));
    long live = server.liveHeapBytes();
    tell("live heap " + live / MIB + " MiB (at most " + LIVE_HEAP_BYTES / MIB + ")");
    if (live > LIVE_HEAP_BYTES) {
      tally.fail("live heap: " + live + " octets");
    }
    String bound = growth.isTelling() ? "at most " + GROWTH_BYTES / MIB : "too short to judge";
    tell("resident memory grew by " + growth.bytes() / MIB + " MiB (" + bound + ")");
    if (growth.isTelling() && growth.bytes() > GROWTH_BYTES) {
      tally.fail("resident memory grew by " + growth.bytes() + " octets");
    }
    metrics
        .samples()
        .forEach(
            (name, value) -> {
              if (name.matches("kamille_(cache|upstream)_\\w+_total.*") && value > 0) {
                tell(name + " " + value);
              }
            });
  }

  private void checkTrouble() {
    if (tally.sum("answer.CONTENT") == 0) {
      tally.fail("no request was answered with content");
    }
    long breaks = tally.sum("unexpected-break");
    if (breaks > tally.sum("answer.") * BREAK_SHARE) {
      tally.fail(breaks + " answers of sound origins broke off");
    }
    long trouble = tally.sum("unexpected-trouble");
    if (trouble > tally.sum("answer.") * TROUBLE_SHARE) {
      tally.fail(trouble + " requests to sound origins were answered with an error");
    }
  }

  private boolean summary() {
    checkTrouble();
    for (String kind : List.of("deed.", "answer.", "fault.", "order.", "broken.", "origin.")) {
      tell(kind.replace(".", "s: ") + String.join(", ", tally.lines(kind)));
    }
    for (String other : List.of("invalidated", "purged", "again", "unexpected-trouble")) {
      tell(other + " " + tally.sum(other));
    }
    tally.lines("trouble.").forEach(this::tell);
    tally.failures().forEach(failure -> tell("WRONG " + failure));
    tell(tally.failed() == 0 ? "nothing was wrong" : tally.failed() + " things were wrong");
    return tally.failed() == 0;
  }
}
