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
import io.kamille.perf.load.LoadObserver;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Peer.Job;
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
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The WebAxe-4 workload on Kamille and other caches: hits, errors, CPU time and clean rate. */
public final class WebAxeComparison {

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

  /** What can be chosen. */
  public static final Options OPTIONS =
      Session.options(
              3, 10, 500, Lineup.NAMES.subList(1, Lineup.NAMES.size()), List.of("kamille", "nginx"))
          .number("--rate", 4000, 1, 100_000, "the fixed rate, requests per second")
          .number("--p99", 50, 1, 100_000, "ms that 99 of 100 latencies may take at a clean rate")
          .number(
              "--working-set",
              64,
              1,
              100_000,
              "MiB of all objects that may be asked for again; 1 GB in the paper")
          .flag(
              "--think",
              "the origin thinks for 300 ms on average, as in the paper; without it not at\n"
                  + "all; --p99 then counts from 700 ms on")
          .shortcut(
              "--quick",
              "--rounds 1 --seconds 2 --working-set 8",
              "1 round of 2 seconds, 8 MiB: to see that it works, not to believe it");

  private static final int SEED = 1;
  private static final int FILLING_RATE = 1500;
  private static final int FILLING_LIMIT_SECONDS = 120;
  private static final int QUICK_WARMUP_SECONDS = 3;
  private static final double POINTS_LIMIT = 0.5;
  private static final String KAMILLE = "kamille";
  private static final String NGINX = "nginx";

  /** Think time is normal with a deviation of 100 ms: few think for longer. */
  private static final int LONG_THOUGHT_MILLIS = 700;

  static final Figure REQUESTS = Figure.of("requests");
  static final Figure FORWARDED = Figure.of("forwarded");

  /** A cache with all of the working set may answer so much of it from its store. */
  static final Figure OFFERED_RATIO = Figure.of("offered_hit_ratio");

  private static final Figure ORIGIN = Figure.of("origin_micros");

  /** The share of the requests that did not reach the origin, 0 to 1. */
  static final Figure HIT_RATIO =
      new Figure("hit_ratio", one -> 1 - one.of(FORWARDED.per(REQUESTS)));

  /** Hits reached less hits offered, in points. */
  static final Figure POINTS = HIT_RATIO.plus(OFFERED_RATIO.times(-1)).times(100);

  static final Figure CPU = Meter.CPU.per(COMPLETED);
  static final Figure ORIGIN_SHARE = ORIGIN.per(NANOS).times(1e3);

  /** The lowest rate that was not clean, in requests per second; empty if none was tried. */
  private static final Figure LIMIT_RATE = Figure.of("limit_rate");

  /** How much of their core the origin had at that rate, 0 to 1. */
  private static final Figure LIMIT_ORIGIN_SHARE = Figure.of("limit_origin_core_share");

  private static final Figure LIMIT_BUSY = Figure.of("limit_client_busy");

  /** Whether client and origin ended the search: the server can do as much at least. */
  static final Figure OTHERS_LIMITED = Figure.of("others_limited");

  private static final List<Column> FIXED =
      List.of(
          Column.spread("hits %", HIT_RATIO.times(100), 2),
          Column.spread("offered %", OFFERED_RATIO.times(100), 2),
          Column.spread("points", POINTS, 2),
          Column.sum("failed", FAILED),
          Column.spread("CPU µs/request", CPU, 1),
          Column.spread("p50 ms", P50.times(1e-3), 2),
          Column.spread("p99 ms", P99.times(1e-3), 2),
          Column.median("client busy %", BUSY.times(100), 0),
          Column.median("origin %", ORIGIN_SHARE.times(100), 0));

  private static final List<Column> CLEAN =
      List.of(
          Column.spread("requests/s", CapacitySearch.RATE, 0),
          Column.ratio("÷ nginx", CapacitySearch.RATE, NGINX),
          Column.sum("rounds ended by client or origin", OTHERS_LIMITED));

  /** A server with its client and its requests. */
  private record Asked(Contestant server, LoadClient client, WebAxe4 workload) {

    private LoadResult load(double rate, Duration duration, long seed) throws IOException {
      return client.run(Arrivals.poisson(RateSchedule.steady(rate, duration), seed), workload);
    }
  }

  private final Session session;
  private final Chosen chosen;
  private final int rate;
  private final double p99LimitMicros;
  private final Map<String, Asked> asked = new HashMap<>();
  private final Samples fixed = new Samples("");
  private final Samples clean = new Samples("");

  private WebAxeComparison(Session session) {
    this.session = session;
    this.chosen = session.chosen();
    this.rate = chosen.number("--rate");
    int thought = chosen.has("--think") ? LONG_THOUGHT_MILLIS : 0;
    this.p99LimitMicros = (chosen.number("--p99") + thought) * 1e3;
  }

  /** Compares. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    try (var session = Session.open(chosen).loadFromHere()) {
      new WebAxeComparison(session).run();
    }
  }

  private void run() throws IOException, InterruptedException {
    int connections = chosen.number("--connections");
    var lineup = session.lineup(Job.MIX, 2 * connections, List.of());
    session.fact(
        "run",
        "WebAxe-4, working set %d MiB, think time %s, %d connections, open loop, Poisson arrivals,"
            + " %d rounds in turn",
        chosen.number("--working-set"),
        chosen.has("--think") ? "300 ms on average" : "none",
        connections,
        session.rounds());
    session.begin();
    lineup.forEach(this::prepare);
    lineup.rounds(session.rounds(), fixed, (server, round) -> atFixedRate(asked(server), round));
    session.print(fixed.table(String.format(Locale.ROOT, "%,d requests/s", rate), "", FIXED));
    LoadFigures.noteLimits(session, fixed.all());
    for (Sample sample : fixed.all()) {
      if (sample.of(POINTS) > POINTS_LIMIT) {
        session.note(
            "%s, round %d: more hits than are offered: it answers reloads from its store",
            sample.server(), sample.round());
      }
    }
    lineup.rounds(session.rounds(), clean, (server, round) -> cleanRate(asked(server), round));
    String title =
        String.format(Locale.ROOT, "no error, p99 at most %.0f ms", p99LimitMicros / 1000);
    session.print(clean.table(title, "", CLEAN));
    for (Sample sample : clean.all()) {
      if (sample.is(OTHERS_LIMITED)) {
        session.note(
            "%s, round %d: client and origin ended the search at %.0f/s (%.0f %% busy, origin %.0f"
                + " %%): the server can do %.0f/s at least",
            sample.server(),
            sample.round(),
            sample.of(LIMIT_RATE),
            sample.of(LIMIT_BUSY) * 100,
            sample.of(LIMIT_ORIGIN_SHARE) * 100,
            sample.of(CapacitySearch.RATE));
      }
    }
    session.print("Goals of kamille", goals(clean), fixed);
    session.keep(fixed);
    session.keep("-clean.csv", clean.csv(session.facts()));
  }

  /** Of the samples at the fixed rate; the last one of the clean rates. */
  static List<Goal> goals(Samples clean) {
    return List.of(
        new Goal(
            "hit ratio within 0.5 points of the offered",
            fixed -> fixed.spread(POINTS, "", KAMILLE),
            median -> Math.abs(median) <= POINTS_LIMIT),
        Goal.atMost(0, "no error at the fixed rate", WebAxeComparison::failures),
        Goal.atLeast(
            1.5,
            "clean rate at least 1.50 × nginx",
            fixed -> clean.ratio(CapacitySearch.RATE, "", KAMILLE, NGINX)));
  }

  /** One failure in any round counts. */
  private static Optional<Spread> failures(Samples fixed) {
    List<Sample> rounds = fixed.of("", KAMILLE);
    return rounds.isEmpty()
        ? Optional.empty()
        : Optional.of(Spread.of(rounds.stream().mapToDouble(one -> one.of(FAILED)).sum()));
  }

  private Asked asked(Contestant server) {
    Asked found = asked.get(server.name());
    if (found == null) {
      throw new IllegalStateException(server.name() + " was not prepared");
    }
    return found;
  }

  private Duration settling() {
    return Duration.ofMillis(chosen.has("--quick") ? 300 : 500);
  }

  /** Fills its store with the working set and puts it under load until it is warm. */
  private void prepare(Contestant server) throws IOException, InterruptedException {
    server.prove(Subject.HITS.getFirst());
    var settings =
        LoadSettings.persistent(server.port(), chosen.number("--connections"))
            .withUses(WebAxe4.clientUses(SEED))
            .onSharedCore();
    var client = LoadClient.open(settings);
    session.bench().undo(client);
    long workingSetBytes = (long) chosen.number("--working-set") << 20;
    double thinkScale = chosen.has("--think") ? 1 : 0;
    var ready =
        new Asked(server, client, new WebAxe4("127.0.0.1", workingSetBytes, thinkScale, SEED));
    fill(ready);
    int seconds = server.peer().warmupSeconds();
    int longest = chosen.has("--quick") ? QUICK_WARMUP_SECONDS : seconds;
    ready.load(rate, Duration.ofSeconds(Math.min(seconds, longest)), SEED);
    asked.put(server.name(), ready);
  }

  /** Asks for all that may be asked for again, and once more for what failed. */
  private static void fill(Asked ready) throws IOException {
    var failed = new ArrayDeque<LoadRequest>();
    RequestSource fresh = ready.workload().filling();
    RequestSource filling = () -> failed.isEmpty() ? fresh.next() : failed.remove();
    LoadObserver keeping =
        outcome -> {
          if (outcome.failure() != null) {
            failed.add(outcome.request());
          }
        };
    var second = RateSchedule.steady(FILLING_RATE, Duration.ofSeconds(1));
    for (int i = 1; !ready.workload().isFilled() || !failed.isEmpty(); i++) {
      if (i > FILLING_LIMIT_SECONDS) {
        throw new IOException(
            ready.server().name() + " did not store the working set: failures go on");
      }
      ready.client().run(Arrivals.poisson(second, i), filling, keeping);
    }
  }

  private Sample atFixedRate(Asked ready, int round) throws IOException {
    ready.load(rate, settling(), round);
    ready.workload().resetCounters();
    long forwardedBefore = session.origin().requests();
    CpuTime originBefore = session.origin().cpuTime();
    var meter = Meter.start(ready.server().process());
    LoadResult load = ready.load(rate, Duration.ofSeconds(session.seconds()), SEED + round);
    var sample = meter.stop(Sample.of("", ready.server().name(), round));
    CpuTime origin = session.origin().cpuTime().minus(originBefore);
    return LoadFigures.with(sample, load)
        .with(REQUESTS, ready.workload().requests())
        .with(OFFERED_RATIO, ready.workload().offeredHitRatio())
        .with(FORWARDED, session.origin().requests() - forwardedBefore)
        .with(ORIGIN, origin.userMicros() + origin.kernelMicros());
  }

  private Sample cleanRate(Asked ready, int round) throws IOException, InterruptedException {
    String name = ready.server().name();
    double latest = CapacitySearch.latest(clean, name);
    var search =
        latest == 0 ? new CapacitySearch(1.5, 1.04, 10) : new CapacitySearch(1.08, 1.04, 6);
    var trial = new Trial(ready, round);
    double found = search.find(latest == 0 ? rate : latest, trial);
    return sample(name, round, found, trial.limitRate, trial.limit)
        .with(LIMIT_ORIGIN_SHARE, trial.limitOriginShare);
  }

  /**
   * The clean rate of one server in one round.
   *
   * @param limitRate the lowest that was not clean
   * @param limit what came of it; null if there was none
   */
  static Sample sample(
      String server, int round, double found, double limitRate, @Nullable LoadResult limit) {
    return Sample.of("", server, round)
        .with(CapacitySearch.RATE, found)
        .with(LIMIT_RATE, limitRate)
        .with(Figure.of("limit_completed_rate"), limit == null ? "" : limit.ratePerSecond())
        .with(Figure.of("limit_failures"), limit == null ? "" : LoadFigures.text(limit.failures()))
        .with(Figure.of("limit_p99_micros"), limit == null ? "" : limit.latencyMicros(99))
        .with(LIMIT_BUSY, limit == null ? "" : limit.busyRatio())
        .with(OTHERS_LIMITED, limit == null || limit.isSaturated());
  }

  /** Whether a rate is clean; remembers the lowest that was not. */
  private final class Trial implements CapacitySearch.Trial {

    private final Asked ready;
    private final int round;
    private double limitRate = Double.NaN;
    private double limitOriginShare = Double.NaN;
    private @Nullable LoadResult limit;

    private Trial(Asked ready, int round) {
      this.ready = ready;
      this.round = round;
    }

    @Override
    public boolean holds(double tried) throws IOException {
      ready.load(Math.min(tried, rate), settling(), round);
      Duration duration = Duration.ofMillis(chosen.has("--quick") ? 700 : 1500);
      CpuTime before = session.origin().cpuTime();
      LoadResult load = ready.load(tried, duration, ((long) tried) * 100 + round);
      boolean isClean = load.failed() == 0 && load.latencyMicros(99) <= p99LimitMicros;
      if (!isClean) {
        CpuTime taken = session.origin().cpuTime().minus(before);
        limitRate = tried;
        limitOriginShare = (taken.userMicros() + taken.kernelMicros()) * 1e3 / load.nanos();
        limit = load;
      }
      return isClean;
    }
  }
}
