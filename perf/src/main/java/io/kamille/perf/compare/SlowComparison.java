package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.COMPLETED;
import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;

import io.kamille.perf.host.ProcessFigures;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.SlowClients;
import io.kamille.perf.load.SlowClients.Attack;
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
import picocli.CommandLine.Command;

/** Clients that behave well, alone and beside hundreds that are as slow as they can be. */
@Command
public final class SlowComparison extends Comparison {

  /*
   * All servers run at once on one core and are asked in turn; the origin, the load and the slow
   * ones share the other. The load and the slow ones are one thread: a slow client has its turn
   * when the load has nothing to do.
   */

  private static final int RATE = 5000;
  private static final int EACH = 500;
  private static final int QUICK_EACH = 100;
  private static final Duration SETTLING = Duration.ofSeconds(3);
  private static final double MIB = 1 << 20;
  private static final String ALONE = "alone";

  /** Which slow clients there are beside those that behave well. */
  private record Situation(String label, List<Attack> kinds) {}

  private static final List<Situation> SITUATIONS =
      List.of(
          new Situation(ALONE, List.of()),
          new Situation("slow heads", List.of(Attack.HEAD)),
          new Situation("slow POST", List.of(Attack.POST)),
          new Situation("slow read", List.of(Attack.READ)),
          new Situation("all of them", List.of(Attack.values())));

  /** Of the kernel for all TCP sockets of the machine, at the end. */
  private static final Figure SOCKETS = Figure.of("socket_bytes");

  /** Slow clients that the server ended meanwhile. */
  private static final Figure ENDED = Figure.of("slow_ended");

  /** Whether slow clients were not as fast as they should be. */
  private static final Figure BEHIND = Figure.of("slow_behind");

  private static final List<Column> COLUMNS =
      List.of(
          Column.spread("p50 µs", P50, 0),
          Column.spread("p99 µs", P99, 0),
          Column.multiple("p99 × alone", P99, ALONE),
          Column.sum("failed", FAILED),
          Column.spread("CPU µs/request", Meter.CPU.per(COMPLETED), 1),
          Column.spread("RSS MiB", Meter.RESIDENT.times(1 / MIB), 0),
          Column.spread("sockets MiB", SOCKETS.times(1 / MIB), 1),
          Column.spread("slow ones ended", ENDED, 0));

  /** Beside as many slow clients as there may be connections here. */
  public SlowComparison() {
    super(3, 10, 64);
  }

  @Override
  void run() throws IOException, InterruptedException {
    loadFromHere();
    int kinds = Attack.values().length;
    int each = Workbench.possibleConnections(kinds * (isQuick ? QUICK_EACH : EACH)) / kinds;
    startServers(
        installed(List.of("kamille", "nginx", "haproxy", "varnish")),
        new Place(Job.HIT, 0, 0, connections + each * kinds));
    fact(
        "run",
        "%d rounds of %d s, %s at %d/s on %d connections, beside %d slow clients of each kind",
        rounds,
        seconds,
        Subject.HIT.label(),
        RATE,
        connections,
        each);
    begin();
    forEach(
        server -> {
          server.prove(Subject.HIT);
          server.prove(Subject.LARGE);
          int warmup = isQuick ? 1 : server.peer().warmupSeconds();
          load(server, Duration.ofSeconds(warmup), 0, LoadSettings::offerCore);
        });
    var samples = new Samples("situation");
    for (int round = 1; round <= rounds; round++) {
      int current = round;
      for (Situation situation : SITUATIONS) {
        forEach(server -> samples.add(measure(server, situation, each, current)));
      }
    }
    SITUATIONS.forEach(one -> print(samples.table(one.label(), one.label(), COLUMNS)));
    print(goals(), samples);
    LoadFigures.noteLimits(this, samples.all());
    if (samples.any(BEHIND)) {
      note("slow clients were slower than they should be in some rounds");
    }
    keep(samples);
  }

  private static List<Goal> goals() {
    return SITUATIONS.stream()
        .skip(1)
        .map(
            one ->
                Goal.atMost(
                    1.5,
                    "beside " + one.label() + ": p99 at most 1.5 × alone",
                    all -> all.multiple(P99, "kamille", one.label(), ALONE)))
        .toList();
  }

  private Sample measure(Contestant server, Situation situation, int each, int round)
      throws IOException {
    try (var slow = new SlowClients(server.address(), situation.kinds(), each)) {
      slow.start();
      Runnable idle =
          () -> {
            slow.goOn();
            LoadSettings.offerCore();
          };
      load(server, SETTLING, -round, idle);
      long endedBefore = slow.ended();
      var meter = Meter.start(server.process());
      LoadResult load = load(server, Duration.ofSeconds(seconds), round, idle);
      var sample = meter.stop(Sample.of(situation.label(), server.name(), round));
      return LoadFigures.with(sample, load)
          .with(SOCKETS, ProcessFigures.socketBytes())
          .with(ENDED, slow.ended() - endedBefore)
          .with(BEHIND, slow.isBehind());
    }
  }

  private LoadResult load(Contestant server, Duration duration, long seed, Runnable idle)
      throws IOException {
    var settings = LoadSettings.persistent(server.port(), connections).withIdle(idle);
    try (var client = LoadClient.open(settings)) {
      return client.run(RATE, duration, seed, RequestSource.always(Subject.HIT.request()));
    }
  }
}
