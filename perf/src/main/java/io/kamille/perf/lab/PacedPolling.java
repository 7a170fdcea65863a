package io.kamille.perf.lab;

import io.kamille.perf.host.CongestionControl;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.report.Report;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Paper P1: what a least interval between two polls does to response time and throughput. */
final class PacedPolling implements Experiment {

  /*
   * The paper polled with poll(2). The JDK has a selector that does so too, and our paced handler
   * runs over it as over epoll: the first two kinds of server are a responder without a cache,
   * which has every answer at once, so that the multiplexing is what differs. The third is Kamille,
   * with an origin behind it, filled before it is measured.
   *
   * All servers of a kind run at once on one core and are measured in turn, each interval in each
   * round, so that what drifts meets all of them.
   */

  /** How long and how much, by scale. */
  private record Extent(
      int rounds,
      Duration load,
      List<Integer> intervalsMicros,
      List<Integer> responderRates,
      List<Integer> kamilleRates,
      int connections,
      long workingSetBytes) {

    private static Extent of(LabScale scale) {
      return switch (scale) {
        case QUICK ->
            new Extent(
                1,
                Duration.ofSeconds(2),
                List.of(0, 1000, 10_000),
                List.of(5000, 20_000, 60_000),
                List.of(1000, 4000),
                500,
                8L << 20);
        case NORMAL ->
            new Extent(
                5,
                Duration.ofSeconds(4),
                List.of(0, 500, 1000, 2000, 5000, 10_000, 20_000),
                List.of(2000, 5000, 10_000, 20_000, 40_000, 60_000),
                List.of(500, 1000, 2000, 4000, 8000),
                2000,
                64L << 20);
        case FULL ->
            new Extent(
                5,
                Duration.ofSeconds(60),
                List.of(0, 500, 1000, 2000, 5000, 10_000, 20_000, 40_000),
                List.of(1000, 2000, 5000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000),
                List.of(500, 1000, 2000, 4000, 6000, 8000, 10_000),
                7000,
                128L << 20);
      };
    }

    /** A connection for each request costs several times as much as the request. */
    private List<Integer> rates(Setting setting) {
      if (setting.hasOrigin()) {
        return kamilleRates;
      }
      return setting.isPersistent()
          ? responderRates
          : responderRates.stream().map(rate -> rate / CONNECTION_COST).toList();
    }

    private List<Integer> intervals(Setting setting) {
      return setting.peer() == null ? intervalsMicros : List.of(0);
    }

    private int steps(Setting setting) {
      return 1 + rates(setting).size() * rounds * intervals(setting).size();
    }
  }

  /** What is paced. */
  private enum Kind {
    POLL("poll(2)"),
    EPOLL("epoll"),
    KAMILLE("Kamille"),
    /** Is not paced; asked as Kamille is. */
    OTHER("");

    private final String label;

    Kind(String label) {
      this.label = label;
    }
  }

  /**
   * A server and how it is asked.
   *
   * @param peer of the kind that is not ours
   */
  private record Setting(Kind kind, boolean isPersistent, @Nullable Peer peer) {

    private String label() {
      return peer != null
          ? peer.name()
          : kind.label + (isPersistent ? ", persistent" : ", non-persistent");
    }

    private boolean hasOrigin() {
      return kind == Kind.KAMILLE || kind == Kind.OTHER;
    }
  }

  static final Paper PAPER =
      new Paper(
          "p1",
          "paced polling, request rate × interval between two polls",
          "Kawai, Kadobayashi and Yamaguchi (Paced polling, 2004) found that a server which"
              + " multiplexes many sockets gains by calling poll() less often: with at least 10 ms"
              + " between two calls throughput rose by 11 to 25 %, and response time stayed flat"
              + " as the load grew. Does it today, with poll(2) as then, and with epoll?",
          List.of(
              "not paced: errors at 2,000 requests/s on non-persistent connections, 1,600"
                  + " requests/s at most on persistent ones; with 10 ms or more between two polls"
                  + " 2,000 requests/s on both; throughput +11 to +25 %",
              "response time: flat in the load with pacing, rising without; beyond 10 ms the wait"
                  + " shows at light load",
              "CPU: not paced near 100 % at every rate; paced it grows with the rate"));

  private static final List<Setting> OWN =
      List.of(
          new Setting(Kind.POLL, true, null),
          new Setting(Kind.EPOLL, true, null),
          new Setting(Kind.POLL, false, null),
          new Setting(Kind.KAMILLE, true, null));

  private static final int CONNECTION_COST = 4;
  private static final Duration SETTLING = Duration.ofMillis(500);
  private static final Duration WARMING = Duration.ofSeconds(2);
  private static final int WARMING_RATE = 5000;
  private static final int FILLING_RATE = 1000;

  private final Extent extent;
  private final PacedPoints points = new PacedPoints();
  private final Opponents opponents;
  private final List<Setting> settings;

  /**
   * The experiment.
   *
   * @param against the other servers that are asked what Kamille is asked
   */
  PacedPolling(LabScale scale, List<String> against) {
    this.extent = Extent.of(scale);
    this.opponents = new Opponents(against);
    var others = opponents.wanted().stream().map(peer -> new Setting(Kind.OTHER, true, peer));
    this.settings = Stream.concat(OWN.stream(), others).toList();
  }

  @Override
  public String setting() {
    return String.format(
        Locale.ROOT,
        "The server has one loop and core 0 for itself; load (and origin) are on core 1, over"
            + " loopback. WebAxe-4 requests with Poisson arrivals, a working set of %d MiB, %d"
            + " connections, persistent ones used as often as zipf(16) says. Latency counts from"
            + " the instant a request should have been sent; every octet is compared. %d rounds of"
            + " %d s for each cell, intervals in turn; figures are medians. \"poll(2)\" and"
            + " \"epoll\" are a responder that has every answer at once, paced by Kamille's handler"
            + " over the JDK's poll selector and over native epoll; \"Kamille\" has an origin"
            + " behind it that thinks for 300 ms on average, and the whole working set stored.",
        extent.workingSetBytes() >> 20,
        extent.connections(),
        extent.rounds(),
        extent.load().toSeconds());
  }

  @Override
  public int steps() {
    return settings.stream().mapToInt(extent::steps).sum();
  }

  @Override
  public void measure(LabRun run) throws IOException, InterruptedException {
    try (var bench = Workbench.open()) {
      CongestionControl.useCubic(bench);
      run.note("congestion control while this ran: " + CongestionControl.current());
      bench.moveTo(Core.OTHERS);
      for (Setting setting : settings) {
        if (setting.peer() != null && !Opponents.isPresent(setting.peer(), run)) {
          continue;
        }
        run.step(setting.label() + ": start and warm up");
        try (var targets = new PacedTarget(bench, extent.connections(), setting.isPersistent())) {
          start(targets, setting);
          measure(run, setting, targets);
        } catch (IOException failed) {
          if (setting.peer() == null) {
            throw failed;
          }
          run.note(setting.label() + " is left out from here on: " + failed.getMessage());
        }
      }
    }
  }

  private void start(PacedTarget targets, Setting setting) throws IOException {
    if (setting.peer() != null) {
      targets.startOther(setting.peer(), opponents);
    } else if (setting.kind() == Kind.KAMILLE) {
      targets.startKamille(extent.intervalsMicros());
    } else {
      targets.startResponders(setting.kind() == Kind.EPOLL, extent.intervalsMicros());
    }
  }

  private void measure(LabRun run, Setting setting, PacedTarget targets)
      throws IOException, InterruptedException {
    double thinkScale = setting.hasOrigin() ? 1 : 0;
    var workload = new WebAxe4("127.0.0.1", extent.workingSetBytes(), thinkScale, 1);
    warm(targets, setting, workload);
    for (int rate : extent.rates(setting)) {
      for (int round = 1; round <= extent.rounds(); round++) {
        for (int interval : extent.intervals(setting)) {
          run.step(
              String.format(
                  Locale.ROOT,
                  "%s: %,d requests/s, interval %s ms, round %d",
                  setting.label(),
                  rate,
                  PacedPoints.millis(interval),
                  round));
          PacedTarget.Served served = targets.paced(interval);
          load(served.client(), workload, rate, SETTLING, round);
          PacedTarget.Reading before = served.read();
          workload.resetCounters();
          LoadResult load =
              load(served.client(), workload, rate, extent.load(), rate * 100L + round);
          var taken = served.read().since(before);
          run.keep(
              "points.csv",
              points.of(setting.label()),
              PacedPoints.sample(setting.label(), rate, interval, round, load, taken));
        }
      }
    }
  }

  private void warm(PacedTarget targets, Setting setting, WebAxe4 workload)
      throws IOException, InterruptedException {
    if (setting.hasOrigin()) {
      fill(targets.paced(0).client(), workload);
    }
    while (!workload.isFilled()) {
      workload.filling().next();
    }
    int rate = Math.min(WARMING_RATE, extent.rates(setting).getLast());
    for (int interval : extent.intervals(setting)) {
      load(targets.paced(interval).client(), workload, rate, WARMING, interval);
    }
  }

  private static void fill(LoadClient client, WebAxe4 workload) throws IOException {
    for (int i = 1; !workload.isFilled(); i++) {
      client.run(
          Arrivals.poisson(RateSchedule.steady(FILLING_RATE, Duration.ofSeconds(1)), i),
          workload.filling());
    }
  }

  private static LoadResult load(
      LoadClient client, WebAxe4 workload, int rate, Duration duration, long seed)
      throws IOException {
    return client.run(Arrivals.poisson(RateSchedule.steady(rate, duration), seed), workload);
  }

  @Override
  public void report(Report report) {
    for (Setting setting : settings) {
      points.report(setting.label(), report);
    }
    opponents.report(report);
    report.heading("What holds today and what does not");
    report.items(OWN.stream().flatMap(s -> points.findings(s.label()).stream()).toList());
  }
}
