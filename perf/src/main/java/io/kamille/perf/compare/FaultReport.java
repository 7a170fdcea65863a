package io.kamille.perf.compare;

import io.kamille.perf.load.FaultyOrigin.Fault;
import io.kamille.perf.report.Spread;
import io.kamille.perf.report.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/** What a faulty origin costs its own route and another: tables, goals and raw data. */
final class FaultReport {

  static final double GOAL = 1.1;

  private static final String TITLES =
      "fault,server,round,asked,failed,last_failure_seconds,out_seconds,back_seconds,failed_after,"
          + "other_p99_before_micros,other_p99_during_micros,other_failed,client_limited";

  private final List<FaultSample> samples = new ArrayList<>();

  void add(FaultSample sample) {
    samples.add(sample);
  }

  Table table(Fault fault) {
    var table =
        new Table(
            fault.label(),
            "/a failed",
            "last failure s",
            "out after s",
            "back after s",
            "/a failed later",
            "/b p99 µs",
            "/b p99 × before",
            "/b failed");
    samples.stream()
        .map(FaultSample::server)
        .distinct()
        .filter(server -> !of(server, fault).isEmpty())
        .forEach(server -> table.row(row(server, fault)));
    return table;
  }

  private List<String> row(String server, Fault fault) {
    List<FaultSample> rounds = of(server, fault);
    return List.of(
        server,
        String.format(
            Locale.ROOT, "%.2f %%", 100 * Spread.of(rounds, FaultSample::failedShare).median()),
        Spread.of(rounds, FaultSample::lastFailureSeconds).text(1),
        text(rounds, FaultSample::outSeconds),
        text(rounds, FaultSample::backSeconds),
        Long.toString(rounds.stream().mapToLong(FaultSample::failedAfter).sum()),
        Spread.of(rounds, FaultSample::otherP99During).text(0),
        Spread.of(rounds, FaultSample::otherRatio).text(2),
        Long.toString(rounds.stream().mapToLong(FaultSample::otherFailed).sum()));
  }

  /** What was not seen in every round is not averaged. */
  private static String text(
      List<FaultSample> rounds, Function<FaultSample, OptionalDouble> property) {
    List<OptionalDouble> values = rounds.stream().map(property).toList();
    return values.stream().allMatch(OptionalDouble::isPresent)
        ? Spread.of(values, OptionalDouble::orElseThrow).text(1)
        : "–";
  }

  Optional<Spread> otherRatio(String server, Fault fault) {
    List<FaultSample> rounds = of(server, fault);
    return rounds.isEmpty()
        ? Optional.empty()
        : Optional.of(Spread.of(rounds, FaultSample::otherRatio));
  }

  List<String> verdicts() {
    return Arrays.stream(Fault.values())
        .filter(fault -> fault != Fault.NONE)
        .map(
            fault ->
                Goal.verdict(
                    "kamille, " + fault.label() + ": p99 of another route at most 1.1 × before",
                    otherRatio("kamille", fault),
                    median -> median <= GOAL))
        .toList();
  }

  boolean isClientLimited() {
    return samples.stream().anyMatch(FaultSample::isClientLimited);
  }

  private List<FaultSample> of(String server, Fault fault) {
    return samples.stream()
        .filter(sample -> sample.server().equals(server) && sample.fault() == fault)
        .toList();
  }

  String csv(Map<String, String> facts) {
    return RawData.csv(facts, TITLES, samples.stream().map(FaultReport::line));
  }

  private static String line(FaultSample sample) {
    return RawData.line(
        sample.fault().label(),
        sample.server(),
        sample.round(),
        sample.asked(),
        sample.failed(),
        sample.lastFailureSeconds(),
        cell(sample.outSeconds()),
        cell(sample.backSeconds()),
        sample.failedAfter(),
        sample.otherP99Before(),
        sample.otherP99During(),
        sample.otherFailed(),
        sample.isClientLimited());
  }

  private static String cell(OptionalDouble value) {
    return value.isPresent() ? Double.toString(value.getAsDouble()) : "";
  }
}
