package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.COMPLETED;
import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Haproxy;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Nginx;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.peer.Varnish;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/** A process that has just been started: its first answer, and its CPU time minute by minute. */
public final class StartComparison {

  /*
   * Each round starts each server anew, alone on its core, and ends it before the next one begins.
   * All get the same requests at the same instants: WebAxe-4 by an open loop, from an empty store.
   */

  /** What can be chosen. */
  public static final Options OPTIONS =
      Options.none()
          .number("--rounds", 5, 1, 1000, "how often each is started")
          .number("--minutes", 2, 0, 1000, "of load on each, in each round")
          .number("--seconds", 60, 1, 60, "that count as a minute")
          .number("--rate", 600, 1, 100_000, "requests per second")
          .number("--connections", 100, 1, 100_000, "open at once")
          .names(
              "--only",
              List.of(),
              peers(Path.of("kamille")).stream().map(Peer::name).toList(),
              "these servers")
          .text(
              "--program",
              "FILE",
              "",
              Pattern.compile("/.+"),
              "a bin/kamille of a package, instead of what is built here")
          .shortcut("--quick", "--rounds 1 --seconds 2", "to see that it works, not to believe it")
          .text("--record", "NAME", "", Options.FILE_NAME, "keep the raw data");

  private static final String KAMILLE = "kamille";
  private static final String NGINX = "nginx";
  private static final String FIRST = "first answer";
  private static final int WORKING_SET_BYTES = 64 << 20;
  private static final int SEED = 1;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration ASK_AGAIN = Duration.ofMillis(2);

  /** From the call that starts the process. */
  private static final Figure WALL = Figure.of("first_answer_millis");

  private static final Figure CPU_FIRST = Figure.of("first_answer_cpu_millis");
  private static final Figure CPU = Meter.CPU.per(COMPLETED);

  private static final List<Column> START =
      List.of(Column.spread("ms", WALL, 0), Column.spread("CPU ms", CPU_FIRST, 0));

  private static final List<Column> MINUTES =
      List.of(
          Column.spread("CPU µs/request", CPU, 1),
          Column.ratio("÷ nginx", CPU, NGINX),
          Column.sum("failed", FAILED),
          Column.spread("p50 ms", P50.times(1e-3), 2),
          Column.spread("p99 ms", P99.times(1e-3), 2),
          Column.median("MiB", Meter.RESIDENT.times(1.0 / (1 << 20)), 0));

  private final Session session;
  private final Chosen chosen;
  private final Samples starts = new Samples("");
  private final Samples minutes = new Samples("");

  private StartComparison(Session session) {
    this.session = session;
    this.chosen = session.chosen();
  }

  /** Compares. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    try (var session = Session.open(chosen).loadFromHere()) {
      new StartComparison(session).run();
    }
  }

  private static List<Peer> peers(Path program) {
    return List.of(new Kamille(program), new Nginx(), new Haproxy(), new Varnish());
  }

  private void run() throws IOException {
    String program = chosen.text("--program");
    List<Peer> peers =
        new ArrayList<>(peers(program.isEmpty() ? session.checkout().kamille() : Path.of(program)));
    peers.removeIf(peer -> !session.isWanted(peer.name()) || peer.missing() != null);
    for (Peer peer : peers) {
      session.fact(peer.name(), "%s", peer.version());
    }
    session.fact(
        "run",
        "WebAxe-4 at %d/s from an empty store, %d connections, %d rounds in turn",
        chosen.number("--rate"),
        chosen.number("--connections"),
        session.rounds());
    session.begin();
    for (int round = 1; round <= session.rounds(); round++) {
      for (Peer peer : peers) {
        measure(peer, round);
      }
    }
    session.print(starts.table(FIRST, FIRST, START));
    for (String minute : minutes.situations()) {
      session.print(minutes.table(minute, minute, MINUTES));
    }
    session.print(
        "Goals of kamille",
        List.of(
            Goal.atMost(
                300, "first answer within 300 ms", all -> all.spread(WALL, FIRST, KAMILLE))),
        starts);
    if (!minutes.all().isEmpty()) {
      session.print("Goals of kamille", List.of(minute(1, 1.2), minute(2, 0.75)), minutes);
    }
    session.keep(minutes);
    session.keep("-first.csv", starts.csv(session.facts()));
  }

  private static Goal minute(int number, double limit) {
    return Goal.atMost(
        limit,
        String.format(Locale.ROOT, "CPU of minute %d at most %.2f × nginx", number, limit),
        all -> all.ratio(CPU, "minute " + number, KAMILLE, NGINX));
  }

  private void measure(Peer peer, int round) throws IOException {
    int port = Workbench.freePort();
    int connections = chosen.number("--connections");
    var place = new Place(Job.MIX, port, session.origin().port(), 2 * connections, List.of());
    Path directory = session.bench().directory(peer.name());
    List<String> command = peer.prepare(directory, place);
    long begin = System.nanoTime();
    Child process = session.bench().start(peer.name(), Workbench.Core.SERVER, command);
    try {
      starts.add(firstAnswer(Sample.of(FIRST, peer.name(), round), process, port, begin));
      var settings =
          LoadSettings.persistent(port, connections)
              .withUses(WebAxe4.clientUses(SEED))
              .onSharedCore();
      try (var client = LoadClient.open(settings)) {
        var workload = new WebAxe4("127.0.0.1", WORKING_SET_BYTES, 0, SEED);
        for (int minute = 1; minute <= chosen.number("--minutes"); minute++) {
          var schedule =
              RateSchedule.steady(chosen.number("--rate"), Duration.ofSeconds(session.seconds()));
          var meter = Meter.start(process);
          var load = client.run(Arrivals.poisson(schedule, minute), workload);
          var sample = meter.stop(Sample.of("minute " + minute, peer.name(), round));
          minutes.add(LoadFigures.with(sample, load));
        }
      }
    } finally {
      process.stop();
    }
  }

  private static Sample firstAnswer(Sample sample, Child process, int port, long begin)
      throws IOException {
    while (!RecoveryMeasurement.ask(port, "127.0.0.1", "GET /hit/1024 HTTP/1.1", "max-age=60")
        .startsWith("HTTP/1.1 200")) {
      if (System.nanoTime() - begin > LIMIT.toNanos()) {
        throw new IOException("no answer within " + LIMIT);
      }
      LockSupport.parkNanos(ASK_AGAIN.toNanos());
    }
    long nanos = System.nanoTime() - begin;
    CpuTime taken = process.cpuTime();
    return sample
        .with(WALL, nanos / 1e6)
        .with(CPU_FIRST, (taken.userMicros() + taken.kernelMicros()) / 1e3);
  }
}
