package io.kamille.perf.compare;

import io.kamille.perf.host.HostFingerprint;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** What the comparison of collapse prints and keeps. */
final class CollapseReport {

  private static final String TITLES =
      "situation,server,round,forwarded,followers,behind_p50_micros,behind_p99_micros,"
          + "behind_max_micros,late,late_p50_micros,late_max_micros,failed,cpu_micros";

  private static final double QUIET_LOAD = 0.5;
  private static final double GOAL_MILLIS = 5;

  private final Map<String, String> facts;
  private final List<String> servers;
  private final List<CollapseSample> samples = new ArrayList<>();

  CollapseReport(HostFingerprint fingerprint, Lineup lineup, ComparisonOptions options) {
    this.facts = new LinkedHashMap<>(fingerprint.facts());
    this.servers = lineup.contestants().stream().map(Contestant::name).toList();
    lineup.contestants().forEach(each -> facts.put(each.name(), each.peer().version()));
    facts.put(
        "run",
        String.format(
            Locale.ROOT,
            "%d rounds, %d clients with a connection each, the origin thinks for %d ms, in turn: %s",
            options.rounds(),
            options.connections(),
            CollapseSituation.THINK_MILLIS,
            String.join(" ", servers)));
  }

  void printBeginning() {
    facts.forEach((name, value) -> System.out.println(name + ": " + value));
    if (HostFingerprint.loadAverage() > QUIET_LOAD) {
      System.out.println("note: this machine is busy with other things; expect disturbed numbers");
    }
  }

  void add(CollapseSample sample) {
    samples.add(sample);
  }

  /** Prints the table of one situation: medians, with the extremes in parentheses. */
  void print(CollapseSituation situation) {
    boolean hasLate = situation.dripBytesPerSecond() > 0;
    var titles =
        new ArrayList<>(
            List.of(
                situation.label(),
                "origin requests",
                "behind the leader: p50 ms",
                "p99 ms",
                "max ms",
                "failed",
                "CPU ms"));
    if (hasLate) {
      titles.addAll(5, List.of("who come midway wait: p50 ms", "max ms "));
    }
    var table = new Table(titles.toArray(String[]::new));
    for (String server : servers) {
      List<CollapseSample> rounds = of(server, situation);
      if (!rounds.isEmpty()) {
        table.row(row(server, rounds, hasLate));
      }
    }
    System.out.println();
    System.out.println(table);
  }

  private static List<String> row(String server, List<CollapseSample> rounds, boolean hasLate) {
    var cells =
        new ArrayList<>(
            List.of(
                server,
                spread(rounds, CollapseSample::forwarded, 0),
                spread(rounds, sample -> sample.behindMillis(50), 2),
                spread(rounds, sample -> sample.behindMillis(99), 2),
                spread(rounds, sample -> sample.behindMillis(100), 2),
                Long.toString(rounds.stream().mapToLong(CollapseSample::failed).sum()),
                spread(rounds, sample -> sample.cpuMicros() / 1e3, 0)));
    if (hasLate) {
      cells.add(5, spread(rounds, sample -> sample.lateMillis(50), 2));
      cells.add(6, spread(rounds, sample -> sample.lateMillis(100), 2));
    }
    return cells;
  }

  private static String spread(
      List<CollapseSample> rounds, ToDoubleFunction<CollapseSample> property, int decimals) {
    return Spread.of(rounds, property).text(decimals);
  }

  private List<CollapseSample> of(String server, CollapseSituation situation) {
    return samples.stream()
        .filter(sample -> sample.round() > 0)
        .filter(sample -> sample.server().equals(server) && sample.situation().equals(situation))
        .toList();
  }

  void printGoals() {
    System.out.println("Goals of kamille:");
    for (CollapseSituation situation : CollapseSituation.ALL) {
      List<CollapseSample> rounds = of("kamille", situation);
      String claim = situation.label() + ", ";
      print(claim + "exactly one origin request", rounds, CollapseSample::forwarded, 1);
      print(claim + "nobody gets wrong octets", rounds, CollapseSample::failed, 0);
      print(
          claim + "first octet at most 5 ms behind the leader's, p99",
          rounds,
          sample -> sample.behindMillis(99),
          GOAL_MILLIS);
      print(
          claim + "first octet at most 5 ms behind the leader's, max",
          rounds,
          sample -> sample.behindMillis(100),
          GOAL_MILLIS);
    }
  }

  private static void print(
      String claim,
      List<CollapseSample> rounds,
      ToDoubleFunction<CollapseSample> property,
      double limit) {
    Optional<Spread> measured =
        rounds.isEmpty() ? Optional.empty() : Optional.of(Spread.of(rounds, property));
    System.out.println("  " + Goal.verdict(claim, measured, median -> median <= limit));
  }

  String csv() {
    return RawData.csv(
        facts,
        TITLES,
        samples.stream().filter(sample -> sample.round() > 0).map(CollapseReport::line));
  }

  private static String line(CollapseSample sample) {
    return RawData.line(
        '"' + sample.situation().label() + '"',
        sample.server(),
        sample.round(),
        sample.forwarded(),
        sample.behindMicros().size(),
        Math.round(sample.behindMillis(50) * 1e3),
        Math.round(sample.behindMillis(99) * 1e3),
        Math.round(sample.behindMillis(100) * 1e3),
        sample.lateMicros().size(),
        Math.round(sample.lateMillis(50) * 1e3),
        Math.round(sample.lateMillis(100) * 1e3),
        sample.failed(),
        sample.cpuMicros());
  }
}
