package io.kamille.perf.compare;

import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** What slow clients cost those that behave well: tables, goals and raw data. */
final class SlowReport {

  static final double GOAL = 1.5;

  private static final double MIB = 1 << 20;
  private static final String TITLES =
      "situation,server,round,completed,failed,p50_micros,p99_micros,cpu_micros,"
          + "resident_bytes,socket_bytes,slow_ended,client_limited";

  private final List<SlowSample> samples = new ArrayList<>();

  void add(SlowSample sample) {
    samples.add(sample);
  }

  Table table(SlowSituation situation) {
    var table =
        new Table(
            situation.label(),
            "p50 µs",
            "p99 µs",
            "p99 × alone",
            "failed",
            "CPU µs/request",
            "RSS MiB",
            "sockets MiB",
            "slow ones ended");
    samples.stream()
        .map(SlowSample::server)
        .distinct()
        .filter(server -> !of(server, situation).isEmpty())
        .forEach(server -> table.row(row(server, situation)));
    return table;
  }

  private List<String> row(String server, SlowSituation situation) {
    List<SlowSample> rounds = of(server, situation);
    return List.of(
        server,
        text(rounds, SlowSample::p50Micros, 0),
        text(rounds, SlowSample::p99Micros, 0),
        ratio(server, situation).map(spread -> spread.text(2)).orElse("–"),
        Long.toString(rounds.stream().mapToLong(SlowSample::failed).sum()),
        text(rounds, sample -> (double) sample.cpuMicros() / Math.max(1, sample.completed()), 1),
        text(rounds, sample -> sample.residentBytes() / MIB, 0),
        text(rounds, sample -> sample.socketBytes() / MIB, 1),
        text(rounds, SlowSample::ended, 0));
  }

  private static String text(
      List<SlowSample> rounds, ToDoubleFunction<SlowSample> property, int decimals) {
    return Spread.of(rounds, property).text(decimals);
  }

  /** p99 as a multiple of what it was alone in the same round; empty without a round of both. */
  Optional<Spread> ratio(String server, SlowSituation situation) {
    double[] ratios =
        of(server, situation).stream()
            .flatMapToDouble(
                sample ->
                    of(server, SlowSituation.ALONE).stream()
                        .filter(alone -> alone.round() == sample.round())
                        .mapToDouble(alone -> sample.p99Micros() / alone.p99Micros()))
            .toArray();
    return ratios.length == 0 ? Optional.empty() : Optional.of(Spread.of(ratios));
  }

  List<String> verdicts() {
    return Arrays.stream(SlowSituation.values())
        .filter(situation -> situation != SlowSituation.ALONE)
        .map(
            situation ->
                Goal.verdict(
                    "kamille, beside " + situation.label() + ": p99 at most 1.5 × alone",
                    ratio("kamille", situation),
                    median -> median <= GOAL))
        .toList();
  }

  /** Whether the client was at its limit in any round. */
  boolean isClientLimited() {
    return samples.stream().anyMatch(SlowSample::isClientLimited);
  }

  private List<SlowSample> of(String server, SlowSituation situation) {
    return samples.stream()
        .filter(sample -> sample.server().equals(server) && sample.situation() == situation)
        .toList();
  }

  String csv(Map<String, String> facts) {
    return RawData.csv(
        facts,
        TITLES,
        samples.stream()
            .map(
                sample ->
                    RawData.line(
                        sample.situation().label(),
                        sample.server(),
                        sample.round(),
                        sample.completed(),
                        sample.failed(),
                        sample.p50Micros(),
                        sample.p99Micros(),
                        sample.cpuMicros(),
                        sample.residentBytes(),
                        sample.socketBytes(),
                        sample.ended(),
                        sample.isClientLimited())));
  }
}
