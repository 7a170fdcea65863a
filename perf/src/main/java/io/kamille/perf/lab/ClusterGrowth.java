package io.kamille.perf.lab;

import io.kamille.cluster.current.Report;
import io.kamille.cluster.log.LogGrowth;
import io.kamille.cluster.peer.OwnerSimulation;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What nodes tell one another, and which keys they own, by their number. Nothing runs. */
final class ClusterGrowth {

  /*
   * Octets of content alone: neither the fields of JGroups nor TLS are counted. A report goes to
   * all others. A purge that comes alone is an entry to all others, a question to them (its number)
   * and an answer from each (a count).
   */
  static final List<Integer> NODES = List.of(3, 5, 7, 10, 20, 50, 100);
  static final int PURGES_PER_SECOND = 100;
  private static final double REPORTS_PER_SECOND = 0.5;

  /** Says that a message is a report. */
  private static final int REPORT_OCTETS = 2;

  private static final int QUESTION_OCTETS = 1 + Long.BYTES + 1 + Long.BYTES;
  private static final int ANSWER_OCTETS = 1 + Long.BYTES + Long.BYTES;
  private static final String DIGEST = "0".repeat(64);
  private static final String SERVER = "a cluster";

  private static final Figure REPORT = Figure.of("report_bytes");
  private static final Figure SENT = Figure.of("report_bytes_per_second_and_node");
  private static final Figure REPORTS = Figure.of("report_bytes_per_second");
  private static final Figure PURGES = Figure.of("purge_bytes_per_second");
  private static final Figure LOG = Figure.of("log_bytes_per_second");
  private static final Figure SNAPSHOT = Figure.of("snapshot_bytes");
  static final Figure JOIN = Figure.of("moved_at_join");
  static final Figure LEAVE = Figure.of("moved_at_leave");
  static final Figure SPREAD = Figure.of("most_keys");
  static final Figure FREE = Figure.of("most_in_flight");
  static final Figure BOUND = Figure.of("most_in_flight_with_bound");
  static final Figure ELSEWHERE = Figure.of("elsewhere_with_bound");

  static final List<Column> TRAFFIC =
      List.of(
          Column.median("a report, octets", REPORT, 0),
          Column.median("reports, kB/s sent by a node", SENT.times(1e-3), 2),
          Column.median("reports, kB/s of all", REPORTS.times(1e-3), 1),
          Column.median("100 purges/s, kB/s of all", PURGES.times(1e-3), 0),
          Column.median("log, kB/s of each node", LOG.times(1e-3), 1),
          Column.median("snapshot, MB", SNAPSHOT.times(1e-6), 2));

  static final List<Column> KEYS =
      List.of(
          Column.median("moved at a join %", JOIN.times(100), 2),
          Column.median("moved at a leave %", LEAVE.times(100), 2),
          Column.median("most keys ÷ mean", SPREAD, 2),
          Column.median("most in flight ÷ mean", FREE, 2),
          Column.median("with the bound", BOUND, 2),
          Column.median("not at the owner then %", ELSEWHERE.times(100), 1));

  private ClusterGrowth() {}

  /** All figures of so many nodes. */
  static Sample of(int nodes) {
    int report = reportOctets(nodes);
    int others = nodes - 1;
    int entry = LogGrowth.entryOctets();
    var owners = new OwnerSimulation(nodes);
    OwnerSimulation.Load free = owners.load(false);
    OwnerSimulation.Load bound = owners.load(true);
    return Sample.of(Integer.toString(nodes), SERVER, 1)
        .with(REPORT, report)
        .with(SENT, REPORTS_PER_SECOND * others * report)
        .with(REPORTS, REPORTS_PER_SECOND * nodes * others * report)
        .with(PURGES, PURGES_PER_SECOND * others * (entry + QUESTION_OCTETS + ANSWER_OCTETS))
        .with(LOG, PURGES_PER_SECOND * entry)
        .with(SNAPSHOT, LogGrowth.snapshotOctets(names(nodes)))
        .with(JOIN, owners.moved(new OwnerSimulation(nodes + 1)))
        .with(LEAVE, owners.moved(new OwnerSimulation(nodes - 1)))
        .with(SPREAD, owners.spread())
        .with(FREE, free.greatest())
        .with(BOUND, bound.greatest())
        .with(ELSEWHERE, bound.elsewhere());
  }

  private static List<String> names(int nodes) {
    return IntStream.range(0, nodes).mapToObj(OwnerSimulation::name).toList();
  }

  private static int reportOctets(int nodes) {
    Map<String, Long> heard =
        names(nodes - 1).stream().collect(Collectors.toMap(name -> name, _ -> 0L));
    var report =
        new Report(
            Report.LEVEL, 1, heard, 1, 1, 1, 1, DIGEST, true, false, 1, "10.0.0.10:7801", "1.0.0");
    return REPORT_OCTETS + report.octets().length;
  }

  /** Octets per second, by the number of nodes. */
  static LineChart traffic(Samples samples) {
    return new LineChart("What nodes tell one another", "nodes", "kB/s of all")
        .logarithmic()
        .line("reports", points(samples, REPORTS.times(1e-3)))
        .line("100 purges/s", points(samples, PURGES.times(1e-3)));
  }

  /** How keys and loads spread, by the number of nodes. */
  static LineChart spread(Samples samples) {
    return new LineChart("The most that one node has", "nodes", "÷ mean")
        .line("keys", points(samples, SPREAD))
        .line("requests in flight", points(samples, FREE))
        .line("requests in flight, with the bound", points(samples, BOUND));
  }

  private static List<LineChart.Point> points(Samples samples, Figure figure) {
    return samples.all().stream()
        .map(one -> new LineChart.Point(Double.parseDouble(one.situation()), one.of(figure)))
        .toList();
  }
}
