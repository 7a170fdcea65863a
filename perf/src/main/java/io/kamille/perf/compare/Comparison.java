package io.kamille.perf.compare;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.Daemon;
import io.kamille.perf.peer.Floor;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * One comparison: its options, the machine made ready, origin and servers, and what is printed and
 * kept. What was started ends with it, and what was changed is put back. Confined.
 */
public abstract class Comparison implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--rounds",
      description = "how often each is measured, in turn (${DEFAULT-VALUE})")
  int rounds;

  @Option(
      names = "--seconds",
      description = "of load on one server in one round (${DEFAULT-VALUE})")
  int seconds;

  @Option(names = "--connections", description = "open at once (${DEFAULT-VALUE})")
  int connections;

  @Option(names = "--only", split = ",", description = "these servers, with commas between")
  private List<String> only = new ArrayList<>();

  @Option(names = "--record", description = "keep the raw data in perf/log/data/NAME.csv")
  private String record = "";

  @Option(
      names = "--kamille-before",
      paramLabel = "DIR",
      description = "another build of Kamille in the line-up, as «before»")
  private @Nullable Path before;

  @Option(
      names = "--quick",
      description = "two rounds of one second: to see that it works, not to believe it")
  boolean isQuick;

  private final Map<String, String> facts = new LinkedHashMap<>();
  private final List<Contestant> servers = new ArrayList<>();
  private final Checkout checkout = Checkout.find();
  private @Nullable Workbench bench;
  private @Nullable Origin origin;

  /** With what holds where the command line is silent. */
  Comparison(int rounds, int seconds, int connections) {
    this.rounds = rounds;
    this.seconds = seconds;
    this.connections = connections;
  }

  @Override
  public final Integer call() throws IOException, InterruptedException {
    if (isQuick) {
      rounds = Math.min(rounds, 2);
      seconds = Math.min(seconds, 1);
    }
    check(rounds > 0 && seconds > 0 && connections > 0, "numbers must be more than zero");
    try (var opened = Workbench.open()) {
      bench = opened;
      CongestionControl.useCubic(opened);
      facts.putAll(HostFingerprint.facts(checkout));
      run();
    }
    return 0;
  }

  /** Measures, prints and keeps. */
  abstract void run() throws IOException, InterruptedException;

  /** Refuses a command line. */
  final void check(boolean holds, String expected) {
    if (!holds) {
      throw new ParameterException(
          Objects.requireNonNull(spec).commandLine(), "expected: " + expected);
    }
  }

  // The machine

  /** Pins this process to the core of the load, for a comparison that makes its load itself. */
  final void loadFromHere() throws IOException, InterruptedException {
    bench().moveTo(Core.OTHERS);
  }

  final Workbench bench() {
    return Objects.requireNonNull(bench);
  }

  final Checkout checkout() {
    return checkout;
  }

  /** The origin that all servers ask, started with the first call. */
  final Origin origin() throws IOException {
    Origin running = origin == null ? Origin.start(bench()) : origin;
    origin = running;
    return running;
  }

  // The servers

  /** The wanted ones of these, and Kamille's other build if there is one. */
  final List<Peer> wanted(List<String> usual) {
    var wanted = new ArrayList<Peer>();
    for (String label : only.isEmpty() ? usual : only) {
      wanted.add(
          switch (label) {
            case "floor" -> new Floor();
            case "kamille" -> Kamille.of(checkout);
            default -> daemon(label);
          });
    }
    if (before != null) {
      wanted.add(Kamille.by("before", before.resolve("bin/kamille")));
    }
    return wanted;
  }

  private Daemon daemon(String label) {
    check(
        Daemon.labels().contains(label),
        "--only floor, kamille, " + String.join(", ", Daemon.labels()));
    return Daemon.named(label);
  }

  /** The wanted ones that are installed; says what is missing of the others, and keeps versions. */
  final List<Peer> installed(List<String> usual) {
    var installed = new ArrayList<Peer>();
    for (Peer peer : wanted(usual)) {
      String missing = peer.missing();
      if (missing == null) {
        installed.add(peer);
        facts.put(peer.label(), peer.version());
      } else {
        System.out.println("left out: " + missing);
      }
    }
    return installed;
  }

  /** Starts those of these servers that can be started, each on a port of its own. */
  final void startServers(List<Peer> peers, Place place) throws IOException {
    for (Peer peer : peers) {
      try {
        var here = place.on(Workbench.freePort(), origin().port());
        servers.add(Contestant.start(bench(), peer, here));
      } catch (IOException e) {
        System.out.println("left out: " + e.getMessage());
      }
    }
  }

  /** Ends them, for others. */
  final void stopServers() throws IOException {
    for (Contestant server : servers) {
      server.process().stop();
      Workbench.deleteTree(bench().directory(server.name()));
    }
    servers.clear();
  }

  final List<Contestant> servers() {
    return List.copyOf(servers);
  }

  /** Something done with one server after another. */
  @FunctionalInterface
  interface Action {
    void on(Contestant server) throws IOException, InterruptedException;
  }

  /** Does it with all of them; goes on without those that fail. */
  final void forEach(Action action) throws InterruptedException {
    for (Contestant server : servers()) {
      try {
        action.on(server);
      } catch (IOException e) {
        System.out.println("left out from here on: " + e.getMessage());
        servers.remove(server);
        server.process().stop();
      }
    }
  }

  /** Measures one server in one round. */
  @FunctionalInterface
  interface Round {
    Sample measure(Contestant server, int round) throws IOException, InterruptedException;
  }

  /**
   * Measures all of them in turn, A B C, A B C: whatever drifts (clock rate, caches, neighbours)
   * meets all alike.
   */
  final void inTurn(Samples samples, Round each) throws InterruptedException {
    for (int round = 1; round <= rounds; round++) {
      int current = round;
      forEach(server -> samples.add(each.measure(server, current)));
    }
  }

  // What comes out

  /** A fact about the run, for whoever reads the figures. */
  @FormatMethod
  final void fact(String name, @FormatString String format, Object... values) {
    facts.put(name, String.format(Locale.ROOT, format, values));
  }

  final Map<String, String> facts() {
    return facts;
  }

  /** Prints the facts so far; from here on figures follow. */
  final void begin() {
    facts.forEach((name, value) -> System.out.println(name + ": " + value));
    if (HostFingerprint.isBusy()) {
      note("this machine is busy with other things; expect disturbed numbers");
    }
  }

  /** Something that a reader of the figures must know; it is kept with them. */
  @FormatMethod
  final void note(@FormatString String format, Object... values) {
    String text = String.format(Locale.ROOT, format, values);
    System.out.println("note: " + text);
    facts.merge("note", text, (earlier, next) -> earlier + "; " + next);
  }

  static void print(Table table) {
    System.out.println();
    System.out.println(table);
  }

  /** Prints what came of the goals. */
  static void print(List<Goal> goals, Samples samples) {
    System.out.println("Goals of kamille:");
    goals.forEach(goal -> System.out.println("  " + goal.verdict(samples)));
  }

  /** Keeps the raw data, if that was asked for. */
  final void keep(Samples samples) throws IOException {
    keep(".csv", samples);
  }

  /** The same with that ending of the file's name. */
  final void keep(String ending, Samples samples) throws IOException {
    if (!record.isEmpty()) {
      Path file = checkout.logData().resolve(record + ending);
      Files.createDirectories(checkout.logData());
      Files.writeString(file, samples.csv(facts));
      System.out.println("kept: " + checkout.root().relativize(file));
    }
  }
}
