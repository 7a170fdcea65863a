package io.kamille.perf.compare;

import static io.kamille.perf.compare.LoadFigures.COMPLETED;
import static io.kamille.perf.compare.LoadFigures.FAILED;
import static io.kamille.perf.compare.LoadFigures.P50;
import static io.kamille.perf.compare.LoadFigures.P99;

import io.kamille.perf.host.SocketMemory;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RateSchedule;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.SlowClients;
import io.kamille.perf.load.SlowClients.Kind;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** Clients that behave well, alone and beside hundreds that are as slow as they can be. */
public final class SlowComparison {

  /*
   * All servers run at once on one core and are asked in turn; the origin, the load and the slow
   * ones share the other. The load and the slow ones are one thread: a slow client has its turn
   * when the load has nothing to do.
   */

  /** What can be chosen. */
  public static final Options OPTIONS =
      Session.options(3, 10, 64, Lineup.NAMES, List.of("kamille", "nginx", "haproxy", "varnish"));

  private static final Subject SMALL = Subject.HITS.getFirst();
  private static final Subject LARGE = Subject.HITS.getLast();
  private static final int RATE = 5000;
  private static final int EACH = 500;
  private static final int QUICK_EACH = 100;
  private static final int SETTLING_SECONDS = 3;
  private static final double GOAL = 1.5;
  private static final double MIB = 1 << 20;

  /** Which slow clients there are beside those that behave well. */
  private record Situation(String label, List<Kind> kinds) {}

  private static final Situation ALONE = new Situation("alone", List.of());
  private static final List<Situation> BESIDE =
      List.of(
          new Situation("slow heads", List.of(Kind.HEAD)),
          new Situation("slow POST", List.of(Kind.POST)),
          new Situation("slow read", List.of(Kind.READ)),
          new Situation("all of them", List.of(Kind.values())));

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
          Column.multiple("p99 × alone", P99, ALONE.label()),
          Column.sum("failed", FAILED),
          Column.spread("CPU µs/request", Meter.CPU.per(COMPLETED), 1),
          Column.spread("RSS MiB", Meter.RESIDENT.times(1 / MIB), 0),
          Column.spread("sockets MiB", SOCKETS.times(1 / MIB), 1),
          Column.spread("slow ones ended", ENDED, 0));

  private final Session session;
  private final int connections;
  private final int each;

  private SlowComparison(Session session, int each) {
    this.session = session;
    this.connections = session.chosen().number("--connections");
    this.each = each;
  }

  /** Compares beside as many slow clients as there may be connections here. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    int kinds = Kind.values().length;
    int wanted = chosen.number("--seconds") == 1 ? QUICK_EACH : EACH;
    int each = DescriptorLimit.connections(kinds * wanted) / kinds;
    try (var session = Session.open(chosen).loadFromHere()) {
      new SlowComparison(session, each).run();
    }
  }

  private void run() throws IOException, InterruptedException {
    int most = connections + each * Kind.values().length;
    var lineup = session.lineup(Job.HIT, most, List.of());
    session.fact(
        "run",
        "%d rounds of %d s, %s at %d/s on %d connections, beside %d slow clients of each kind",
        session.rounds(),
        session.seconds(),
        SMALL.label(),
        RATE,
        connections,
        each);
    session.begin();
    lineup.forEach(
        server -> {
          server.prove(SMALL);
          server.prove(LARGE);
          load(server, server.peer().warmupSeconds(), 0, LoadSettings::offerCore);
        });
    var samples = new Samples("situation");
    for (int round = 1; round <= session.rounds(); round++) {
      int current = round;
      lineup.forEach(server -> samples.add(measure(server, ALONE, current)));
      for (Situation situation : BESIDE) {
        lineup.forEach(server -> samples.add(measure(server, situation, current)));
      }
    }
    session.print(samples.table(ALONE.label(), ALONE.label(), COLUMNS));
    BESIDE.forEach(one -> session.print(samples.table(one.label(), one.label(), COLUMNS)));
    session.print("Goals of kamille", goals(), samples);
    LoadFigures.noteLimits(session, samples.all());
    if (samples.any(BEHIND)) {
      session.note("slow clients were slower than they should be in some rounds");
    }
    session.keep(samples);
  }

  static List<Goal> goals() {
    return BESIDE.stream()
        .map(
            one ->
                Goal.atMost(
                    GOAL,
                    "beside " + one.label() + ": p99 at most 1.5 × alone",
                    samples -> samples.multiple(P99, "kamille", one.label(), ALONE.label())))
        .toList();
  }

  private Sample measure(Contestant server, Situation situation, int round) throws IOException {
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
    try (var slow = SlowClients.of(address, situation.kinds(), each)) {
      if (!situation.kinds().isEmpty()) {
        slow.start();
      }
      Runnable idle =
          () -> {
            slow.goOn();
            LoadSettings.offerCore();
          };
      load(server, SETTLING_SECONDS, -round, idle);
      long endedBefore = slow.ended();
      var meter = Meter.start(server.process());
      LoadResult load = load(server, session.seconds(), round, idle);
      var sample = meter.stop(Sample.of(situation.label(), server.name(), round));
      return LoadFigures.with(sample, load)
          .with(SOCKETS, SocketMemory.bytes())
          .with(ENDED, slow.ended() - endedBefore)
          .with(BEHIND, slow.isBehind());
    }
  }

  private LoadResult load(Contestant server, int seconds, long seed, Runnable idle)
      throws IOException {
    var requests = RequestSource.always(SMALL.request("127.0.0.1"));
    var schedule = RateSchedule.steady(RATE, Duration.ofSeconds(seconds));
    var settings = LoadSettings.persistent(server.port(), connections).withIdle(idle);
    try (var client = LoadClient.open(settings)) {
      return client.run(Arrivals.poisson(schedule, seed), requests);
    }
  }
}
