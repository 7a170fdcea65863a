package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.BUSY;
import static io.kamille.perf.compare.LoadFigures.COMPLETED;
import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.LATE_P99;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;

import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.IdleConnections;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** CPU time per request and latency of one Kamille that paces itself in one way and another. */
public final class PacingComparison {

  /*
   * One server with one loop on core 0; this process, which makes the load, and the origin on core
   * 1. Requests arrive as a Poisson process, with the same instants for every way in a round. The
   * ways change on the running server, A B A B, and each gets some load before it is measured, so
   * that a way that adapts has adapted. The trial of pauses takes up to a minute. So there is that
   * much load on the adaptive way before the rounds at a rate.
   */

  /** What can be chosen. */
  public static final Options OPTIONS =
      Session.options(5, 3)
          .shortcut(
              "--quick",
              "--rounds 2 --seconds 1 --trial 0",
              "2 rounds of 1 second: to see that it works, not to believe it")
          .number(
              "--trial",
              70,
              0,
              600,
              "seconds of load on adaptive before its rounds at a rate, so that its trial is over")
          .texts(
              "--ways",
              "A,B",
              List.of(PacingGoals.OFF, PacingGoals.ADAPTIVE),
              Pattern.compile("off|adaptive|[1-9][0-9]{0,5}(us|ms)"),
              "of pacing: off, adaptive or an interval such as 500us")
          .flag("--fixed", "500us and 1ms as well")
          .texts(
              "--rates", "N,N", List.of(), Pattern.compile("[1-9][0-9]{0,5}"), "requests/s offered")
          .number("--connections", 200, 1, 1_000_000, "that requests are sent on")
          .number("--open", 1, 1, 1_000_000, "connections in all, the others unused")
          .number("--size", 1024, 0, 16 << 20, "octets of the object")
          .flag("--misses", "ask for what must not be stored")
          .flag("--no-capacity", "without looking for the highest rate")
          .flag("--step", "nothing but a jump from 1,000 to 60,000 requests/s and back");

  private static final Duration WINDOW = Duration.ofMillis(100);
  private static final int LOW_RATE = 1000;
  private static final int HIGH_RATE = 60_000;
  private static final int WARMUP_RATE = 20_000;
  private static final int QUICK_WARMUP_SECONDS = 3;
  private static final double CAPACITY_P99_MICROS = 10_000;
  private static final int CAPACITY_ROUNDS = 3;
  private static final double KEPT_UP_RATIO = 0.99;
  private static final double WAITED_LIMIT = 0.1;
  private static final int COSTLY_SIZE = 16 << 10;
  private static final List<Integer> RATES = List.of(1000, 2000, 10_000, 20_000, 50_000);
  private static final List<Integer> COSTLY_RATES = List.of(500, 1000, 2000, 5000, 10_000);

  /** Of the server's threads. */
  static final Figure RAN = Figure.of("cpu_nanos");

  /** How long they waited for their core. */
  static final Figure WAITED = Figure.of("waited_nanos");

  static final Figure CPU = RAN.per(COMPLETED).times(1e-3);
  private static final Figure WAITED_RATIO = WAITED.per(RAN.plus(WAITED));

  private final Session session;
  private final Subject subject;
  private final List<String> ways;
  private final List<Integer> rates;
  private final boolean isQuick;
  private final ChangingKamille server;
  private final LoadClient client;
  private final RequestSource requests;
  private final Samples samples = new Samples("rate", "way");
  private final Samples capacities = new Samples("", "way");

  private PacingComparison(
      Session session, Subject subject, ChangingKamille server, LoadClient client) {
    this.session = session;
    this.subject = subject;
    this.ways = ways(session.chosen());
    this.rates = rates(session.chosen(), subject);
    this.isQuick = session.chosen().has("--quick");
    this.server = server;
    this.client = client;
    this.requests = RequestSource.always(subject.request("127.0.0.1"));
  }

  /** Compares. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    Subject subject = subject(chosen);
    int connections = chosen.number("--connections");
    int open = chosen.number("--open");
    int unused = open > connections ? DescriptorLimit.connections(open) - connections : 0;
    try (var session = Session.open(chosen).loadFromHere()) {
      session.fact("subject", "%s, open loop, Poisson arrivals", subject.label());
      session.fact("ways", "%s, in turn on one process", String.join(" ", ways(chosen)));
      session.fact(
          "run",
          "%d rounds of %d s, %d connections, %d more unused",
          session.rounds(),
          session.seconds(),
          connections,
          unused);
      session.begin();
      int origin = session.origin().port();
      int port = Workbench.freePort();
      var place = new Place(subject.job(), port, origin, connections + unused, List.of());
      var first = new Kamille(session.checkout()).withPacing(ways(chosen).getFirst());
      var server = ChangingKamille.start(session.bench(), first, place);
      server.contestant().prove(subject);
      var settings = LoadSettings.persistent(port, connections);
      boolean isShared = subject.job() == Job.PASS;
      try (var others = IdleConnections.open(unused, port, subject.request("127.0.0.1:" + port));
          var client = LoadClient.open(isShared ? settings.onSharedCore() : settings)) {
        new PacingComparison(session, subject, server, client).run();
        if (others.openCount() < unused) {
          session.note("the server closed some of the unused connections");
        }
      }
    }
  }

  static List<String> ways(Chosen chosen) {
    Stream<String> fixed = chosen.has("--fixed") ? Stream.of("500us", "1ms") : Stream.of();
    return Stream.concat(chosen.texts("--ways").stream(), fixed).distinct().toList();
  }

  static List<Integer> rates(Chosen chosen, Subject subject) {
    List<Integer> named = chosen.texts("--rates").stream().map(Integer::valueOf).toList();
    if (!named.isEmpty()) {
      return named;
    }
    return subject.job() == Job.PASS || subject.size() > COSTLY_SIZE ? COSTLY_RATES : RATES;
  }

  static Subject subject(Chosen chosen) {
    int size = chosen.number("--size");
    String length = size % 1024 == 0 ? size / 1024 + " KiB" : size + " B";
    return chosen.has("--misses")
        ? new Subject(Job.PASS, length + " miss", size)
        : new Subject(Job.HIT, length + " hit", size);
  }

  private void run() throws IOException, InterruptedException {
    warm();
    long forwardedBefore = session.origin().requests();
    if (session.chosen().has("--step")) {
      step();
    } else {
      for (int rate : rates) {
        measure(rate);
        print(rate);
      }
      if (!session.chosen().has("--no-capacity")) {
        findCapacities();
        session.print(capacities.table("capacity", "", capacityColumns(ways.getFirst())));
        LoadFigures.noteLimits(session, capacities.all());
        session.keep("-capacity.csv", capacities.csv(session.facts()));
      }
      session.print("Goals of adaptive pacing", PacingGoals.of(samples, rates), samples);
      session.keep(samples);
      Optional<String> plot = PacingPlot.svg(samples, subject, ways, rates);
      if (plot.isPresent()) {
        session.keep(".svg", plot.get());
      }
    }
    if (subject.job() == Job.HIT && session.origin().requests() != forwardedBefore) {
      throw new IOException("some of the hits were forwarded to the origin");
    }
  }

  private void warm() throws IOException, InterruptedException {
    int seconds = isQuick ? QUICK_WARMUP_SECONDS : Jvm.WARMUP_SECONDS;
    for (String way : ways) {
      server.pace(way);
      Duration part = Duration.ofSeconds(seconds).dividedBy(ways.size());
      load(Math.min(WARMUP_RATE, highestRate()), part, 0);
    }
  }

  private int highestRate() {
    return rates.stream().mapToInt(rate -> rate).max().orElseThrow();
  }

  private LoadResult load(double rate, Duration duration, long seed) throws IOException {
    return client.run(Arrivals.poisson(RateSchedule.steady(rate, duration), seed), requests);
  }

  private void measure(int rate) throws IOException, InterruptedException {
    int trial = session.chosen().number("--trial");
    if (ways.contains(PacingGoals.ADAPTIVE) && trial > 0) {
      server.pace(PacingGoals.ADAPTIVE);
      load(rate, Duration.ofSeconds(trial), rate);
    }
    for (int round = 1; round <= session.rounds(); round++) {
      for (String way : ways) {
        server.pace(way);
        load(rate, settling(), round);
        RunTime before = server.process().runTime();
        LoadResult load = load(rate, Duration.ofSeconds(session.seconds()), seed(rate, round));
        RunTime.Taken ran = server.process().runTime().since(before);
        samples.add(sample(way, rate, round, load, ran));
      }
    }
  }

  static Sample sample(String way, int rate, int round, LoadResult load, RunTime.Taken ran) {
    return LoadFigures.with(Sample.of(Integer.toString(rate), way, round), load)
        .with(RAN, ran.ranNanos())
        .with(WAITED, ran.waitedNanos());
  }

  private static long seed(int rate, int round) {
    return rate * 1000L + round;
  }

  private Duration settling() {
    return Duration.ofMillis(isQuick ? 300 : 500);
  }

  private void print(int rate) {
    String situation = Integer.toString(rate);
    String title = String.format(Locale.ROOT, "%s, %,d/s", subject.label(), rate);
    session.print(samples.table(title, situation, columns(ways.getFirst())));
    List<Sample> rounds = samples.of(situation);
    LoadFigures.noteLimits(session, rounds);
    for (Sample round : rounds) {
      if (round.of(FAILED) > 0) {
        session.note("%s, round %d: %.0f failed", round.server(), round.round(), round.of(FAILED));
      }
      if (round.of(WAITED_RATIO) > WAITED_LIMIT) {
        session.note(
            "%s, round %d: threads of the server waited for its core %.0f %% of their time",
            round.server(), round.round(), round.of(WAITED_RATIO) * 100);
      }
    }
  }

  private static List<Column> columns(String baseline) {
    String by = "÷ " + baseline;
    return List.of(
        Column.spread("CPU µs/request", CPU, 2),
        Column.ratio(by, CPU, baseline),
        Column.median("p50 µs", P50, 0),
        Column.ratio(by, P50, baseline),
        Column.spread("p99 µs", P99, 0),
        Column.ratio(by, P99, baseline),
        Column.difference("− " + baseline, P99, baseline, 0),
        Column.median("requests/s", LoadFigures.RATE, 0),
        Column.median("client late p99 µs", LATE_P99, 0),
        Column.median("busy %", BUSY.times(100), 0));
  }

  private static List<Column> capacityColumns(String baseline) {
    return List.of(
        Column.spread("requests/s", CapacitySearch.RATE, 0),
        Column.ratio("÷ " + baseline, CapacitySearch.RATE, baseline));
  }

  private void findCapacities() throws IOException, InterruptedException {
    int rounds = isQuick ? 1 : Math.min(CAPACITY_ROUNDS, session.rounds());
    for (int round = 1; round <= rounds; round++) {
      for (String way : ways) {
        server.pace(way);
        double latest = CapacitySearch.latest(capacities, way);
        var search =
            latest == 0 ? new CapacitySearch(1.25, 1.03, 9) : new CapacitySearch(1.06, 1.03, 5);
        var trial = new Trial(round);
        double rate = search.find(latest == 0 ? highestRate() : latest, trial);
        capacities.add(
            Sample.of("", way, round)
                .with(CapacitySearch.RATE, rate)
                .with(LoadFigures.LIMITED, trial.isClientLimited));
      }
    }
  }

  /** Whether a rate is kept up with; remembers why the last one was not. */
  private final class Trial implements CapacitySearch.Trial {

    private final int round;
    private boolean isClientLimited;

    private Trial(int round) {
      this.round = round;
    }

    @Override
    public boolean holds(double rate) throws IOException {
      load(rate, settling().dividedBy(2), round);
      LoadResult load =
          load(rate, Duration.ofMillis(isQuick ? 700 : 1500), seed((int) rate, round));
      boolean holds =
          load.failed() == 0
              && load.latencyMicros(99) <= CAPACITY_P99_MICROS
              && load.ratePerSecond() >= rate * KEPT_UP_RATIO;
      if (!holds) {
        isClientLimited = load.isSaturated();
      }
      return holds;
    }
  }

  private void step() throws IOException, InterruptedException {
    Duration part = Duration.ofMillis(isQuick ? 500 : 1000);
    var schedule =
        RateSchedule.steady(LOW_RATE, part)
            .step(HIGH_RATE, part.multipliedBy(2))
            .step(LOW_RATE, part);
    var step = new StepComparison(schedule);
    for (int round = 1; round <= session.rounds(); round++) {
      for (String way : ways) {
        server.pace(way);
        load(LOW_RATE, settling(), round);
        LoadResult load = client.run(Arrivals.poisson(schedule, round), requests, WINDOW);
        step.add(way, round, load);
        if (load.failed() > 0 || load.isSaturated()) {
          session.note(
              "%s, round %d: %d failed; the client was %s",
              way, round, load.failed(), load.isSaturated() ? "at its limit" : "not at its limit");
        }
      }
    }
    session.print(step.table());
    for (String way : ways) {
      double[] worst =
          IntStream.rangeClosed(1, session.rounds())
              .mapToDouble(round -> step.worst(way, round))
              .toArray();
      System.out.println(way + ": p99 of the worst window " + Spread.of(worst).text(0) + " µs");
    }
    session.keep(step.samples());
  }
}
