package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.BUSY;
import static io.kamille.perf.compare.LoadFigures.COMPLETED;
import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.NANOS;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;

import io.kamille.perf.host.CpuTime;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The WebAxe-4 workload on Kamille and other caches: hits, errors, CPU time and clean rate. */
@Command
public final class WebAxeComparison extends Comparison {

  /*
   * All servers run at once on one core, client and origin on the other, one server at a time is
   * under load. Each is asked by a workload of its own with the same seed: first what fills the
   * working set, then, at the fixed rate, the same requests at the same instants. The search for
   * the clean rate comes last, because from there on each has been asked a different number of
   * requests. Both go in rounds A B A B.
   *
   * A request that does not reach the origin is a hit. What is offered is counted by the workload
   * from the requests it makes: for an object asked for before, cachable, and no reload. A server
   * that answers reloads from its store comes out above that.
   */

  private static final int SEED = 1;
  private static final int FILLING_RATE = 1500;
  private static final int FILLING_LIMIT_SECONDS = 120;
  private static final int QUICK_WARMUP_SECONDS = 3;
  private static final double POINTS_LIMIT = 0.5;
  private static final String KAMILLE = "kamille";

  /** Think time is normal with a deviation of 100 ms: few think for longer. */
  private static final int LONG_THOUGHT_MILLIS = 700;

  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure FORWARDED = Figure.of("forwarded");

  /** A cache with all of the working set may answer so much of it from its store. */
  private static final Figure OFFERED_RATIO = Figure.of("offered_hit_ratio");

  /** The share of the requests that did not reach the origin, 0 to 1. */
  private static final Figure HIT_RATIO =
      new Figure("hit_ratio", one -> 1 - one.of(FORWARDED.per(REQUESTS)));

  /** Hits reached less hits offered, in points. */
  private static final Figure POINTS = HIT_RATIO.plus(OFFERED_RATIO.times(-1)).times(100);

  private static final Figure ORIGIN = Figure.of("origin_micros");
  private static final Figure CPU = Meter.CPU.per(COMPLETED);

  /** The lowest rate that was not clean, in requests per second; empty if none was tried. */
  private static final Figure LIMIT_RATE = Figure.of("limit_rate");

  /** Whether client and origin ended the search: the server can do as much at least. */
  private static final Figure OTHERS_LIMITED = Figure.of("others_limited");

  private static final List<Column> FIXED =
      List.of(
          Column.spread("hits %", HIT_RATIO.times(100), 2),
          Column.spread("offered %", OFFERED_RATIO.times(100), 2),
          Column.spread("points", POINTS, 2),
          Column.sum("failed", FAILED),
          Column.spread("CPU µs/request", CPU, 1),
          Column.median("of it compilers", Meter.COMPILERS.per(COMPLETED).times(1e-3), 1),
          Column.spread("p50 ms", P50.times(1e-3), 2),
          Column.spread("p99 ms", P99.times(1e-3), 2),
          Column.median("client busy %", BUSY.times(100), 0),
          Column.median("origin %", ORIGIN.per(NANOS).times(1e5), 0));

  private static final List<Column> CLEAN =
      List.of(
          Column.spread("requests/s", CapacitySearch.RATE, 0),
          Column.ratio("÷ nginx", CapacitySearch.RATE, "nginx"),
          Column.spread("first rate that was not clean", LIMIT_RATE, 0),
          Column.sum("rounds ended by client or origin", OTHERS_LIMITED));

  @Option(names = "--rate", description = "the fixed rate, requests per second (${DEFAULT-VALUE})")
  private int rate = 4000;

  @Option(
      names = "--p99",
      description = "ms that 99 of 100 latencies may take at a clean rate (${DEFAULT-VALUE})")
  private int p99 = 50;

  @Option(
      names = "--working-set",
      description = "MiB of all objects that may be asked for again (${DEFAULT-VALUE})")
  private int workingSet = 64;

  @Option(
      names = "--think",
      description = "the origin thinks for 300 ms on average; --p99 counts from 700 ms on")
  private boolean isThinking;

  /** A server with its client and its requests. */
  private record Asked(Contestant server, LoadClient client, WebAxe4 workload) {
    private LoadResult load(double rate, Duration duration, long seed) throws IOException {
      return client.run(rate, duration, seed, workload);
    }
  }

  private final Map<String, Asked> asked = new HashMap<>();
  private final Samples fixed = new Samples("");
  private final Samples clean = new Samples("");

  /** On 500 connections. */
  public WebAxeComparison() {
    super(3, 10, 500);
  }

  @Override
  void run() throws IOException, InterruptedException {
    loadFromHere();
    workingSet = isQuick ? Math.min(workingSet, 8) : workingSet;
    startServers(installed(List.of(KAMILLE, "nginx")), new Place(Job.MIX, 0, 0, 2 * connections));
    fact(
        "run",
        "WebAxe-4, working set %d MiB, think time %s, %d connections, open loop, Poisson arrivals,"
            + " %d rounds in turn",
        workingSet,
        isThinking ? "300 ms on average" : "none",
        connections,
        rounds);
    begin();
    forEach(this::prepare);
    inTurn(fixed, (server, round) -> atFixedRate(asked(server), round));
    print(fixed.table(String.format(Locale.ROOT, "%,d requests/s", rate), "", FIXED));
    LoadFigures.noteLimits(this, fixed.all());
    inTurn(clean, (server, round) -> cleanRate(asked(server), round));
    print(clean.table("no error, p99 in time", "", CLEAN));
    print(goals(), fixed);
    keep(fixed);
    keep("-clean.csv", clean);
  }

  /** Of the samples at the fixed rate; the last one of the clean rates. */
  private List<Goal> goals() {
    return List.of(
        new Goal(
            "hit ratio within 0.5 points of the offered",
            all -> all.spread(POINTS, "", KAMILLE),
            median -> Math.abs(median) <= POINTS_LIMIT),
        Goal.atMost(0, "no error at the fixed rate", WebAxeComparison::failures),
        Goal.atLeast(
            1.5,
            "clean rate at least 1.50 × nginx",
            all -> clean.ratio(CapacitySearch.RATE, "", KAMILLE, "nginx")));
  }

  /** One failure in any round counts. */
  private static Optional<Spread> failures(Samples all) {
    return all.spread(FAILED, "", KAMILLE).map(spread -> Spread.of(spread.greatest()));
  }

  private Asked asked(Contestant server) {
    return Objects.requireNonNull(asked.get(server.name()));
  }

  private Duration settling() {
    return Duration.ofMillis(isQuick ? 300 : 500);
  }

  /** Fills its store with the working set and puts it under load until it is warm. */
  private void prepare(Contestant server) throws IOException, InterruptedException {
    server.prove(Subject.HIT);
    var client =
        LoadClient.open(
            LoadSettings.persistent(server.port(), connections)
                .withUses(WebAxe4.clientUses(SEED))
                .onSharedCore());
    bench().undo(client);
    var workload = new WebAxe4("127.0.0.1", (long) workingSet << 20, isThinking ? 1 : 0, SEED);
    var ready = new Asked(server, client, workload);
    fill(ready);
    int warmup = isQuick ? QUICK_WARMUP_SECONDS : server.peer().warmupSeconds();
    ready.load(rate, Duration.ofSeconds(warmup), SEED);
    asked.put(server.name(), ready);
  }

  /** Asks for all that may be asked for again, and once more for what failed. */
  private static void fill(Asked ready) throws IOException {
    var failed = new ArrayDeque<LoadRequest>();
    RequestSource fresh = ready.workload().filling();
    RequestSource filling = () -> failed.isEmpty() ? fresh.next() : failed.remove();
    var second = RateSchedule.steady(FILLING_RATE, Duration.ofSeconds(1));
    for (int i = 1; !ready.workload().isFilled() || !failed.isEmpty(); i++) {
      if (i > FILLING_LIMIT_SECONDS) {
        throw new IOException(ready.server().name() + " did not store the working set");
      }
      ready
          .client()
          .run(
              Arrivals.poisson(second, i),
              filling,
              outcome -> {
                if (outcome.failure() != null) {
                  failed.add(outcome.request());
                }
              });
    }
  }

  private Sample atFixedRate(Asked ready, int round) throws IOException {
    ready.load(rate, settling(), round);
    ready.workload().resetCounters();
    long forwardedBefore = origin().requests();
    CpuTime originBefore = origin().cpuTime();
    var meter = Meter.start(ready.server().process());
    LoadResult load = ready.load(rate, Duration.ofSeconds(seconds), SEED + round);
    var sample = meter.stop(Sample.of("", ready.server().name(), round));
    CpuTime origin = origin().cpuTime().minus(originBefore);
    return LoadFigures.with(sample, load)
        .with(REQUESTS, ready.workload().requests())
        .with(OFFERED_RATIO, ready.workload().offeredHitRatio())
        .with(FORWARDED, origin().requests() - forwardedBefore)
        .with(ORIGIN, origin.micros());
  }

  private Sample cleanRate(Asked ready, int round) throws IOException, InterruptedException {
    double latest = CapacitySearch.latest(clean, ready.server().name());
    var search =
        latest == 0 ? new CapacitySearch(1.5, 1.04, 10) : new CapacitySearch(1.08, 1.04, 6);
    double p99Limit = (p99 + (isThinking ? LONG_THOUGHT_MILLIS : 0)) * 1e3;
    double[] limit = {Double.NaN};
    boolean[] areOthersLimited = {true};
    double found =
        search.find(
            latest == 0 ? rate : latest,
            tried -> {
              ready.load(Math.min(tried, rate), settling(), round);
              Duration duration = Duration.ofMillis(isQuick ? 700 : 1500);
              LoadResult load = ready.load(tried, duration, ((long) tried) * 100 + round);
              boolean isClean = load.failed() == 0 && load.latencyMicros(99) <= p99Limit;
              if (!isClean) {
                limit[0] = tried;
                areOthersLimited[0] = load.isSaturated();
              }
              return isClean;
            });
    return Sample.of("", ready.server().name(), round)
        .with(CapacitySearch.RATE, found)
        .with(LIMIT_RATE, limit[0])
        .with(OTHERS_LIMITED, areOthersLimited[0]);
  }
}
