package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.BUSY;
import static io.kamille.perf.compare.LoadFigures.COMPLETED;
import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.LATE_P99;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;

import io.kamille.perf.host.RunTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** CPU time per request and latency of one Kamille that paces itself in one way and another. */
@Command
public final class PacingComparison extends Comparison {

  /*
   * One server with one loop on core 0; this process, which makes the load, and the origin on core
   * 1. Requests arrive as a Poisson process, with the same instants for every way in a round. The
   * ways change on the running server, A B A B, and each gets some load before it is measured, so
   * that a way that adapts has adapted. A trial of pauses takes up to 5 s, and comes up to 30 s
   * after the load has changed. So there is that much load on the adaptive way before the rounds at
   * a rate. A later trial may fall into two rounds.
   */

  private static final String OFF = "off";
  private static final String ADAPTIVE = "adaptive";
  private static final int WARMUP_RATE = 20_000;
  private static final int QUICK_WARMUP_SECONDS = 3;
  private static final double CAPACITY_P99_MICROS = 10_000;
  private static final double KEPT_UP_RATIO = 0.99;
  private static final double WAITED_LIMIT = 0.1;
  private static final double SAVES = 0.9;
  private static final int ADDED_MICROS = 50;

  /** Of the server's threads. */
  private static final Figure RAN = Figure.of("cpu_nanos");

  /** How long they waited for their core. */
  private static final Figure WAITED = Figure.of("waited_nanos");

  private static final Figure CPU = RAN.per(COMPLETED).times(1e-3);
  private static final Figure WAITED_RATIO = WAITED.per(RAN.plus(WAITED));

  @Option(
      names = "--trial",
      description = "seconds of load on adaptive before its rounds at a rate (${DEFAULT-VALUE})")
  private int trial = 42;

  @Option(
      names = "--ways",
      split = ",",
      description = "off, adaptive or an interval such as 500us (${DEFAULT-VALUE})")
  private List<String> ways = List.of(OFF, ADAPTIVE);

  @Option(names = "--rates", split = ",", description = "requests/s offered (${DEFAULT-VALUE})")
  private List<Integer> rates = List.of(1000, 2000, 10_000, 20_000, 40_000);

  @Option(names = "--size", description = "octets of the object (${DEFAULT-VALUE})")
  private int size = 1024;

  @Option(names = "--misses", description = "ask for what must not be stored")
  private boolean areMisses;

  @Option(names = "--no-capacity", description = "without looking for the highest rate")
  private boolean isWithoutCapacity;

  private final Samples samples = new Samples("rate", "way");
  private final Samples capacities = new Samples("", "way");

  /** On 200 connections. */
  public PacingComparison() {
    super(5, 3, 200);
  }

  @Override
  void run() throws IOException, InterruptedException {
    loadFromHere();
    var kind = areMisses ? Subject.Kind.PASS : Subject.Kind.HIT;
    var subject = new Subject(size + (areMisses ? " B miss" : " B hit"), kind, size);
    fact("subject", "%s, open loop, Poisson arrivals", subject.label());
    fact("ways", "%s, in turn on one process", String.join(" ", ways));
    fact("run", "%d rounds of %d s, %d connections", rounds, seconds, connections);
    begin();
    int port = Workbench.freePort();
    var place = new Place(Job.HIT, port, origin().port(), connections);
    var first = Kamille.of(checkout()).withPacing(ways.getFirst());
    var server = ChangingKamille.start(bench(), first, place);
    server.contestant().prove(subject);
    var settings = LoadSettings.persistent(port, connections);
    try (var client = LoadClient.open(areMisses ? settings.onSharedCore() : settings)) {
      var measuring = new Measuring(server, client, RequestSource.always(subject.request()));
      // The first request of the load fills the store: its Host names no port, as the proof's does.
      measuring.warm();
      long forwardedBefore = origin().requests();
      measuring.run();
      if (!areMisses && origin().requests() != forwardedBefore) {
        throw new IOException("some of the hits were forwarded to the origin");
      }
    }
    keep(samples);
    keep("-capacity.csv", capacities);
  }

  /** One server that runs, and its load. */
  private final class Measuring {
    private final ChangingKamille server;
    private final LoadClient client;
    private final RequestSource requests;

    private Measuring(ChangingKamille server, LoadClient client, RequestSource requests) {
      this.server = server;
      this.client = client;
      this.requests = requests;
    }

    private LoadResult load(double rate, Duration duration, long seed) throws IOException {
      return client.run(rate, duration, seed, requests);
    }

    private void warm() throws IOException, InterruptedException {
      int warmup = isQuick ? QUICK_WARMUP_SECONDS : Jvm.WARMUP_SECONDS;
      for (String way : ways) {
        server.pace(way);
        Duration part = Duration.ofSeconds(warmup).dividedBy(ways.size());
        load(Math.min(WARMUP_RATE, rates.getLast()), part, 0);
      }
    }

    private void run() throws IOException, InterruptedException {
      for (int rate : rates) {
        measure(rate);
        tell(rate);
      }
      if (!isWithoutCapacity) {
        findCapacities();
        print(capacities.table("capacity", "", capacityColumns(ways.getFirst())));
        LoadFigures.noteLimits(PacingComparison.this, capacities.all());
      }
      print(rates.stream().flatMap(PacingComparison.this::goals).toList(), samples);
    }

    private void measure(int rate) throws IOException, InterruptedException {
      if (ways.contains(ADAPTIVE) && trial > 0 && !isQuick) {
        server.pace(ADAPTIVE);
        load(rate, Duration.ofSeconds(trial), rate);
      }
      for (int round = 1; round <= rounds; round++) {
        for (String way : ways) {
          server.pace(way);
          load(rate, settling(), round);
          RunTime before = server.process().runTime();
          LoadResult load = load(rate, Duration.ofSeconds(seconds), rate * 1000L + round);
          RunTime threads = server.process().runTime();
          RunTime.Taken ran = threads.since(before);
          samples.add(
              LoadFigures.with(Sample.of(Integer.toString(rate), way, round), load)
                  .with(RAN, ran.ranNanos())
                  .with(Meter.COMPILERS, Meter.compilersNanos(threads, before))
                  .with(WAITED, ran.waitedNanos()));
        }
      }
    }

    private Duration settling() {
      return Duration.ofMillis(isQuick ? 300 : 500);
    }

    private void findCapacities() throws IOException, InterruptedException {
      for (int round = 1; round <= (isQuick ? 1 : 3); round++) {
        for (String way : ways) {
          server.pace(way);
          double latest = CapacitySearch.latest(capacities, way);
          var search =
              latest == 0 ? new CapacitySearch(1.25, 1.03, 9) : new CapacitySearch(1.06, 1.03, 5);
          boolean[] isLimited = {false};
          int seed = round;
          double rate =
              search.find(
                  latest == 0 ? rates.getLast() : latest, tried -> holds(tried, seed, isLimited));
          capacities.add(
              Sample.of("", way, round)
                  .with(CapacitySearch.RATE, rate)
                  .with(LoadFigures.LIMITED, isLimited[0]));
        }
      }
    }

    /** Whether a rate is kept up with; remembers whether the client ended the search. */
    private boolean holds(double rate, int round, boolean[] isLimited) throws IOException {
      load(rate, settling().dividedBy(2), round);
      LoadResult load =
          load(rate, Duration.ofMillis(isQuick ? 700 : 1500), Math.round(rate) * 1000 + round);
      boolean holds =
          load.failed() == 0
              && load.latencyMicros(99) <= CAPACITY_P99_MICROS
              && load.ratePerSecond() >= rate * KEPT_UP_RATIO;
      isLimited[0] = holds ? isLimited[0] : load.isSaturated();
      return holds;
    }
  }

  private void tell(int rate) {
    String situation = Integer.toString(rate);
    print(samples.table(situation + "/s", situation, columns(ways.getFirst())));
    List<Sample> measured = samples.of(situation);
    LoadFigures.noteLimits(this, measured);
    for (Sample one : measured) {
      if (one.of(FAILED) > 0 || one.of(WAITED_RATIO) > WAITED_LIMIT) {
        note(
            "%s, round %d: %.0f failed; the server's threads waited for its core %.0f %% of their"
                + " time",
            one.server(), one.round(), one.of(FAILED), one.of(WAITED_RATIO) * 100);
      }
    }
  }

  private static List<Column> columns(String baseline) {
    String by = "÷ " + baseline;
    return List.of(
        Column.spread("CPU µs/request", CPU, 2),
        Column.ratio(by, CPU, baseline),
        Column.median("of it compilers", Meter.COMPILERS.per(COMPLETED).times(1e-3), 2),
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

  /** What adaptive pacing is to reach beside none: it saves CPU time, or stays out of the way. */
  private Stream<Goal> goals(int rate) {
    String situation = Integer.toString(rate);
    var saved = samples.ratio(CPU, situation, ADAPTIVE, OFF);
    if (saved.isEmpty()) {
      return Stream.empty();
    }
    Goal cpu =
        Goal.atMost(
            1.02,
            String.format(Locale.ROOT, "%,d/s: CPU per request at most 1.02 × off", rate),
            all -> all.ratio(CPU, situation, ADAPTIVE, OFF));
    Goal delay =
        Goal.atMost(
            ADDED_MICROS,
            String.format(Locale.ROOT, "%,d/s: p50 at most off + 50 µs, as little is saved", rate),
            all -> all.difference(P50, situation, ADAPTIVE, OFF));
    return saved.get().median() <= SAVES ? Stream.of(cpu) : Stream.of(cpu, delay);
  }
}
