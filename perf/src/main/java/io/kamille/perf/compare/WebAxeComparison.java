package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadObserver;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.OpenLoopClient;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Peer.Job;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The WebAxe-4 workload on Kamille and other caches: hits, errors, CPU time and clean rate. */
public final class WebAxeComparison {

  /*
   * All servers run at once on one core, client and origin on the other, one server at a time is under
   * load. Each is asked by a workload of its own with the same seed: first what fills the working set,
   * then, at the fixed rate, the same requests at the same instants. The search for the clean rate
   * comes last, because from there on each has been asked a different number of requests. Both go in
   * rounds A B A B.
   *
   * A request that does not reach the origin is a hit. What is offered is counted by the workload from
   * the requests it makes: for an object asked for before, cachable, and no reload. A server that
   * answers reloads from its store comes out above that.
   */

  /** What there is to say on the command line. */
  public static final String HELP = WebAxeOptions.HELP;

  private static final int SEED = 1;
  private static final int FILLING_RATE = 1500;
  private static final int FILLING_LIMIT_SECONDS = 120;
  private static final int QUICK_WARMUP_SECONDS = 3;

  private final WebAxeOptions options;

  private WebAxeComparison(WebAxeOptions options) {
    this.options = options;
  }

  /**
   * Compares as these words of a command line say.
   *
   * @throws IllegalArgumentException if one is not understood
   */
  public static WebAxeComparison of(List<String> words) {
    return new WebAxeComparison(WebAxeOptions.parse(words));
  }

  /**
   * Measures and prints.
   *
   * @throws IOException if the machine lacks what is needed, with what to do about it
   */
  public void run() throws IOException, InterruptedException {
    var checkout = Checkout.find();
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      var fingerprint = HostFingerprint.take(checkout);
      bench.moveTo(Core.OTHERS);
      var origin = Origin.start(bench);
      var common = options.common();
      var roomy = common.withConnections(2 * common.connections());
      var lineup = Lineup.start(bench, checkout, Job.MIX, origin, roomy, List.of());
      var report = new WebAxeReport(fingerprint, lineup, options);
      report.printBeginning();
      new Measuring(bench, origin, lineup, report).run();
      report.printGoals();
      RawData.keep(checkout, common.record(), report.csv());
      if (common.record() != null) {
        RawData.keep(checkout, common.record() + "-clean", report.cleanCsv());
      }
    }
  }

  /** A server with its client and its requests. */
  private record Asked(Contestant contestant, OpenLoopClient client, WebAxe4 workload) {

    private LoadResult load(double rate, Duration duration, long seed) throws IOException {
      return client.run(Arrivals.poisson(RateSchedule.steady(rate, duration), seed), workload);
    }
  }

  /** With everything started. */
  private final class Measuring {

    private final Workbench bench;
    private final Origin origin;
    private final Lineup lineup;
    private final WebAxeReport report;
    private final Map<String, Asked> asked = new HashMap<>();
    private final Map<String, Double> latest = new HashMap<>();

    private Measuring(Workbench bench, Origin origin, Lineup lineup, WebAxeReport report) {
      this.bench = bench;
      this.origin = origin;
      this.lineup = lineup;
      this.report = report;
    }

    private void run() throws IOException, InterruptedException {
      lineup.forEach(this::prepare);
      for (int round = 1; round <= options.common().rounds(); round++) {
        int current = round;
        lineup.forEach(contestant -> report.add(atFixedRate(asked(contestant), current)));
      }
      report.printFixed();
      for (int round = 1; round <= options.common().rounds(); round++) {
        int current = round;
        lineup.forEach(contestant -> report.add(cleanRate(asked(contestant), current)));
      }
      report.printClean();
    }

    private Asked asked(Contestant contestant) {
      Asked found = asked.get(contestant.name());
      if (found == null) {
        throw new IllegalStateException(contestant.name() + " was not prepared");
      }
      return found;
    }

    /** Fills its store with the working set and puts it under load until it is warm. */
    private void prepare(Contestant contestant) throws IOException, InterruptedException {
      contestant.prove(Subject.HITS.getFirst());
      var settings =
          LoadSettings.persistent(contestant.port(), options.common().connections())
              .withUses(WebAxe4.clientUses(SEED))
              .onSharedCore();
      var client = OpenLoopClient.open(settings);
      bench.undo(client);
      var workload =
          new WebAxe4("127.0.0.1", options.workingSetBytes(), options.thinkScale(), SEED);
      var ready = new Asked(contestant, client, workload);
      fill(ready);
      int seconds = contestant.peer().warmupSeconds();
      int longest = options.isQuick() ? QUICK_WARMUP_SECONDS : seconds;
      ready.load(options.rate(), Duration.ofSeconds(Math.min(seconds, longest)), SEED);
      asked.put(contestant.name(), ready);
    }

    /** Asks for all that may be asked for again, and once more for what failed. */
    private void fill(Asked ready) throws IOException {
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
              ready.contestant().name() + " did not store the working set: failures go on");
        }
        ready.client().run(Arrivals.poisson(second, i), filling, keeping);
      }
    }

    private WebAxeSample atFixedRate(Asked server, int round) throws IOException {
      var contestant = server.contestant();
      server.load(options.rate(), options.settling(), round);
      server.workload().resetCounters();
      long forwardedBefore = origin.requests();
      CpuTime originBefore = origin.cpuTime();
      CpuTime before = contestant.process().cpuTime();
      Duration duration = Duration.ofSeconds(options.common().seconds());
      LoadResult load = server.load(options.rate(), duration, SEED + round);
      CpuTime cpu = contestant.process().cpuTime().minus(before);
      CpuTime originCpu = origin.cpuTime().minus(originBefore);
      return new WebAxeSample(
          contestant.name(),
          round,
          load,
          server.workload().requests(),
          server.workload().offeredHitRatio(),
          origin.requests() - forwardedBefore,
          cpu,
          originCpu);
    }

    private CleanRate cleanRate(Asked server, int round) throws IOException, InterruptedException {
      String name = server.contestant().name();
      boolean isFirst = !latest.containsKey(name);
      var search = isFirst ? new CapacitySearch(1.5, 1.04, 10) : new CapacitySearch(1.08, 1.04, 6);
      var trial = new Trial(server, round);
      double rate = search.find(latest.getOrDefault(name, (double) options.rate()), trial);
      if (rate > 0) {
        latest.put(name, rate);
      }
      return new CleanRate(name, round, rate, trial.limit);
    }

    /** Whether a rate is clean; remembers the lowest that was not. */
    private final class Trial implements CapacitySearch.Trial {

      private final Asked server;
      private final int round;
      private CleanRate.@Nullable Limit limit;

      private Trial(Asked server, int round) {
        this.server = server;
        this.round = round;
      }

      @Override
      public boolean holds(double rate) throws IOException {
        server.load(Math.min(rate, options.rate()), options.settling(), round);
        CpuTime before = origin.cpuTime();
        LoadResult load = server.load(rate, options.trial(), ((long) rate) * 100 + round);
        boolean isClean = load.failed() == 0 && load.latencyMicros(99) <= options.p99LimitMicros();
        if (!isClean) {
          limit = new CleanRate.Limit(rate, load, origin.cpuTime().minus(before));
        }
        return isClean;
      }
    }
  }
}
