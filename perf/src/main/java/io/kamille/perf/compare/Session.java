package io.kamille.perf.compare;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One comparison under way: the machine made ready, the origin, the facts, and what is printed and
 * kept. Closing it ends what was started and puts back what was changed. Confined.
 */
final class Session implements AutoCloseable {

  private static final double QUIET_LOAD = 0.5;
  private static final int MOST = 100_000;

  private final Chosen chosen;
  private final Checkout checkout = Checkout.find();
  private final Workbench bench;
  private final Map<String, String> facts;
  private @Nullable Origin origin;

  private Session(Chosen chosen, Workbench bench) throws IOException, InterruptedException {
    this.chosen = chosen;
    this.bench = bench;
    CongestionControl.useCubic(bench);
    this.facts = new LinkedHashMap<>(HostFingerprint.take(checkout).facts());
  }

  /** Options that every comparison has: how often, how long, and where the raw data goes. */
  static Options options(int rounds, int seconds) {
    return Options.none()
        .number("--rounds", rounds, 1, MOST, "how often each is measured, in turn")
        .number("--seconds", seconds, 1, MOST, "of load on one server in one round")
        .shortcut(
            "--quick",
            "--rounds 3 --seconds 1",
            "3 rounds of 1 second: to see that it works, not to believe it")
        .text(
            "--record",
            "NAME",
            "",
            Options.FILE_NAME,
            "keep the raw data in perf/log/data/NAME.csv");
  }

  /**
   * The same for a comparison of servers.
   *
   * @param servers that can be named
   * @param usual those that are compared if none is named; none means all that do the job
   */
  static Options options(
      int rounds, int seconds, int connections, List<String> servers, List<String> usual) {
    return options(rounds, seconds)
        .number("--connections", connections, 1, MOST, "open at once")
        .names("--only", usual, servers, "these of " + String.join(", ", servers));
  }

  /**
   * Opens the one bench of this machine, with the congestion control that loopback needs.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  static Session open(Chosen chosen) throws IOException, InterruptedException {
    Workbench bench = Workbench.open();
    try {
      return new Session(chosen, bench);
    } catch (IOException | InterruptedException | RuntimeException e) {
      bench.close();
      throw e;
    }
  }

  /** Pins this process to the core of the load, for a comparison that makes its load itself. */
  Session loadFromHere() throws IOException, InterruptedException {
    bench.moveTo(Core.OTHERS);
    return this;
  }

  Workbench bench() {
    return bench;
  }

  Checkout checkout() {
    return checkout;
  }

  Chosen chosen() {
    return chosen;
  }

  int rounds() {
    return chosen.number("--rounds");
  }

  int seconds() {
    return chosen.number("--seconds");
  }

  /** Of load on one server in all rounds: warming it takes no longer. */
  int loadSeconds() {
    return rounds() * seconds();
  }

  /** Whether that server is to be measured. */
  boolean isWanted(String server) {
    List<String> only = chosen.texts("--only");
    return only.isEmpty() || only.contains(server);
  }

  /** The origin that all servers ask, started with the first call. */
  Origin origin() throws IOException {
    Origin running = origin == null ? Origin.start(bench) : origin;
    origin = running;
    return running;
  }

  /**
   * Starts the servers that are wanted and installed, tells of the others, and notes versions.
   *
   * @param connections how many there will be at once at most
   * @param javaOptions for servers in Java
   */
  Lineup lineup(Job job, int connections, List<String> javaOptions) throws IOException {
    var lineup = Lineup.start(this, job, connections, javaOptions);
    lineup.contestants().forEach(each -> facts.put(each.name(), each.peer().version()));
    return lineup;
  }

  /** A fact about the run, for whoever reads the figures. */
  @FormatMethod
  void fact(String name, @FormatString String format, Object... values) {
    facts.put(name, String.format(Locale.ROOT, format, values));
  }

  /** Prints the facts so far; from here on figures follow. */
  void begin() {
    facts.forEach((name, value) -> System.out.println(name + ": " + value));
    if (HostFingerprint.loadAverage() > QUIET_LOAD) {
      note("this machine is busy with other things; expect disturbed numbers");
    }
  }

  /** Something that a reader of the figures must know; it is kept with them. */
  @FormatMethod
  void note(@FormatString String format, Object... values) {
    String text = String.format(Locale.ROOT, format, values);
    System.out.println("note: " + text);
    facts.merge("note", text, (before, next) -> before + "; " + next);
  }

  Map<String, String> facts() {
    return facts;
  }

  void print(Table table) {
    System.out.println();
    System.out.println(table);
  }

  /** Prints what came of the goals. */
  void print(String title, List<Goal> goals, Samples samples) {
    System.out.println(title + ":");
    goals.forEach(goal -> System.out.println("  " + goal.verdict(samples)));
  }

  /** Keeps the raw data, if that was asked for. */
  void keep(Samples samples) throws IOException {
    keep(".csv", samples.csv(facts));
  }

  /**
   * Keeps a file beside the raw data, if that was asked for.
   *
   * @param ending of its name, behind that of the record
   */
  void keep(String ending, String text) throws IOException {
    String name = chosen.text("--record");
    if (!name.isEmpty()) {
      Path file = checkout.logData().resolve(name + ending);
      Files.createDirectories(checkout.logData());
      Files.writeString(file, text);
      System.out.println("kept: " + checkout.root().relativize(file));
    }
  }

  @Override
  public void close() {
    bench.close();
  }
}
