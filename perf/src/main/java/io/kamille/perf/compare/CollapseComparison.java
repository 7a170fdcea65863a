package io.kamille.perf.compare;

import io.kamille.perf.load.Crowd;
import io.kamille.perf.load.Crowd.Outcome;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.option.Chosen;
import io.kamille.perf.option.Options;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Many misses on one key at once: how often the origin is asked, and when who gets an octet. */
public final class CollapseComparison {

  /*
   * All servers run at once on one core and are asked in turn; the crowd, which is this process,
   * and the origin share the other. Every round is about an object that no server has seen, and
   * every octet is compared. Servers in Java get rounds beforehand that do not count.
   *
   * The leader is the first to ask. Where it has gone without an answer, the first follower to get
   * an octet stands for it.
   */

  /** What can be chosen. */
  public static final Options OPTIONS =
      Session.options(5, 3, 1000, List.of("kamille", "nginx", "varnish"), List.of());

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int WARMUP_ROUNDS = 10;
  private static final double GOAL_MILLIS = 5;

  private static final Figure FORWARDED = Figure.of("forwarded");
  private static final Figure FOLLOWERS = Figure.of("followers");
  static final Figure BEHIND_P50 = Figure.of("behind_p50_micros");
  private static final Figure BEHIND_P99 = Figure.of("behind_p99_micros");
  static final Figure BEHIND_MAX = Figure.of("behind_max_micros");
  private static final Figure LATE = Figure.of("late");
  static final Figure LATE_P50 = Figure.of("late_p50_micros");
  private static final Figure LATE_MAX = Figure.of("late_max_micros");
  static final Figure FAILED = Figure.of("failed");

  private static final List<Column> TIMES =
      List.of(
          Column.spread("origin requests", FORWARDED, 0),
          Column.spread("behind the leader: p50 ms", BEHIND_P50.times(1e-3), 2),
          Column.spread("p99 ms", BEHIND_P99.times(1e-3), 2),
          Column.spread("max ms", BEHIND_MAX.times(1e-3), 2));
  private static final List<Column> LATE_TIMES =
      List.of(
          Column.spread("who come midway wait: p50 ms", LATE_P50.times(1e-3), 2),
          Column.spread("max ms ", LATE_MAX.times(1e-3), 2));
  private static final List<Column> COSTS =
      List.of(Column.sum("failed", FAILED), Column.spread("CPU ms", Meter.CPU.times(1e-3), 0));

  private final Session session;
  private final int connections;
  private long object;

  private CollapseComparison(Session session, int connections) {
    this.session = session;
    this.connections = connections;
  }

  /** Compares with as many clients as there may be connections here. */
  public static void run(Chosen chosen) throws IOException, InterruptedException {
    int connections = DescriptorLimit.connections(chosen.number("--connections"));
    try (var session = Session.open(chosen).loadFromHere()) {
      new CollapseComparison(session, connections).run();
    }
  }

  private void run() throws IOException, InterruptedException {
    var lineup = session.lineup(Job.COLLAPSE, connections, List.of());
    session.fact(
        "run",
        "%d rounds, %d clients with a connection each, the origin thinks for %d ms, in turn",
        session.rounds(),
        connections,
        CollapseSituation.THINK_MILLIS);
    session.begin();
    lineup.forEach(this::warm);
    var samples = new Samples("situation");
    for (CollapseSituation situation : CollapseSituation.ALL) {
      lineup.rounds(
          session.rounds(), samples, (server, round) -> measure(server, situation, round));
      session.print(samples.table(situation.label(), situation.label(), columns(situation)));
    }
    session.print("Goals of kamille", goals(), samples);
    session.keep(samples);
  }

  private static List<Column> columns(CollapseSituation situation) {
    List<Column> late = situation.dripBytesPerSecond() > 0 ? LATE_TIMES : List.of();
    return Stream.of(TIMES, late, COSTS).flatMap(List::stream).toList();
  }

  private static List<Goal> goals() {
    var goals = new ArrayList<Goal>();
    for (CollapseSituation situation : CollapseSituation.ALL) {
      String label = situation.label();
      goals.add(goal(1, label, "exactly one origin request", FORWARDED));
      goals.add(goal(0, label, "nobody gets wrong octets", FAILED));
      String behind = "first octet at most 5 ms behind the leader's, ";
      goals.add(goal(GOAL_MILLIS, label, behind + "p99 ms", BEHIND_P99.times(1e-3)));
      goals.add(goal(GOAL_MILLIS, label, behind + "max ms", BEHIND_MAX.times(1e-3)));
    }
    return goals;
  }

  private static Goal goal(double limit, String situation, String claim, Figure figure) {
    return Goal.atMost(
        limit, situation + ", " + claim, samples -> samples.spread(figure, situation, "kamille"));
  }

  private void warm(Contestant server) throws IOException {
    int rounds = server.peer().isJava() ? Math.min(WARMUP_ROUNDS, 2 * session.rounds()) : 1;
    for (int i = 0; i < rounds; i++) {
      for (CollapseSituation situation : CollapseSituation.WARMING) {
        measure(server, situation, 0);
      }
    }
  }

  private Sample measure(Contestant server, CollapseSituation situation, int round)
      throws IOException {
    OriginTarget target = situation.target(++object);
    long forwardedBefore = session.origin().requests();
    var settings = LoadSettings.persistent(server.port(), connections);
    try (var client = LoadClient.open(settings)) {
      var meter = Meter.start(server.process());
      List<Outcome> crowd =
          Crowd.ask(
              client,
              () -> LoadRequest.get("127.0.0.1", target),
              situation.plans(connections),
              LIMIT);
      var sample = Sample.of(situation.label(), server.name(), round);
      sample.with(FORWARDED, session.origin().requests() - forwardedBefore);
      return meter.stop(with(sample, crowd, situation.late(crowd.size())));
    }
  }

  /**
   * Adds what a crowd saw.
   *
   * @param late how many, at the end of the list, came while the content was on its way
   */
  static Sample with(Sample sample, List<Outcome> crowd, int late) {
    List<Outcome> followers = crowd.subList(1, crowd.size() - late);
    long leader =
        crowd.getFirst().isAnswered()
            ? crowd.getFirst().firstNanos()
            : followers.stream().mapToLong(Outcome::firstNanos).min().orElse(0);
    long[] behind =
        followers.stream()
            .filter(Outcome::isAnswered)
            .mapToLong(one -> Math.max(0, one.firstNanos() - leader) / 1000)
            .sorted()
            .toArray();
    long[] waited =
        crowd.subList(crowd.size() - late, crowd.size()).stream()
            .filter(Outcome::isAnswered)
            .mapToLong(one -> (one.firstNanos() - one.sentNanos()) / 1000)
            .sorted()
            .toArray();
    return sample
        .with(FOLLOWERS, behind.length)
        .with(BEHIND_P50, percentile(behind, 50))
        .with(BEHIND_P99, percentile(behind, 99))
        .with(BEHIND_MAX, percentile(behind, 100))
        .with(LATE, waited.length)
        .with(LATE_P50, percentile(waited, 50))
        .with(LATE_MAX, percentile(waited, 100))
        .with(FAILED, crowd.stream().filter(one -> one.failure() != null).count());
  }

  /** The least value that so many per cent do not exceed; NaN if there are none. */
  private static double percentile(long[] sorted, double percentile) {
    int rank = (int) Math.ceil(percentile / 100 * sorted.length);
    return sorted.length == 0 ? Double.NaN : sorted[Math.max(1, rank) - 1];
  }
}
