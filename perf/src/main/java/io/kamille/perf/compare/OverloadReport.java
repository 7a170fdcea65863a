package io.kamille.perf.compare;

import io.kamille.perf.load.UserResult;
import io.kamille.perf.load.UserResult.Count;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What servers under too much load came to: a table, goals, two drawings and raw data. */
final class OverloadReport {

  /** The Kamille that sheds. */
  static final String SHEDDING = "kamille";

  private static final String MOST = "3.0";
  private static final String BELOW = "0.8";

  private static final double MIB = 1 << 20;
  private static final Figure CAPACITY = Figure.of("capacity");
  private static final Figure SECONDS = Figure.of("seconds");
  private static final Figure OFFERED = Figure.of("offered");
  static final Figure GOOD = Figure.of("good");
  private static final Figure FORWARDED = Figure.of("good_forwarded");
  private static final Figure SHED = Figure.of("shed");
  private static final Figure TURNED_AWAY = Figure.of("turned_away");
  private static final Figure TIMED_OUT = Figure.of("timed_out");
  private static final Figure FAILED = Figure.of("failed");
  private static final Figure P50 = Figure.of("p50_micros");
  static final Figure P99 = Figure.of("p99_micros");
  private static final Figure LATE_P99 = Figure.of("late_p99_micros");
  private static final Figure GOODPUT = GOOD.per(SECONDS);
  static final Figure NOT_SERVED = SHED.plus(TURNED_AWAY);

  /** Right answers per second, in capacities. */
  static final Figure GOODPUT_RATIO = GOODPUT.per(CAPACITY);

  private static final List<Column> COLUMNS =
      List.of(
          Column.median("offered", OFFERED.per(SECONDS), 0),
          Column.median("goodput", GOODPUT, 0),
          Column.median("÷ capacity", GOODPUT_RATIO, 2),
          Column.median("p50 ms", P50.times(1e-3), 1),
          Column.median("p99 ms", P99.times(1e-3), 1),
          Column.median("shed", SHED.per(SECONDS), 0),
          Column.median("turned away", TURNED_AWAY.per(SECONDS), 0),
          Column.median("lost", TIMED_OUT.plus(FAILED).per(SECONDS), 0),
          Column.median("CPU %", Meter.CPU.per(SECONDS).times(1e-4), 0),
          Column.median("resident MiB", Meter.RESIDENT.times(1 / MIB), 0),
          Column.median("client late p99 ms", LATE_P99.times(1e-3), 1));

  private final Samples samples = new Samples("load");

  Samples samples() {
    return samples;
  }

  /** Prints and writes what there is; nothing if nothing was measured. */
  void write(Session session, @Nullable String to) throws IOException {
    if (samples.all().isEmpty()) {
      return;
    }
    Path directory = session.checkout().results(to, "overload");
    session.print(samples.wholeTable("server", "load", COLUMNS));
    session.print("Goals of kamille", goals(), samples);
    if (cost(samples).filter(known -> known.median() < 0).isPresent()) {
      session.note(
          "answers at 3 × took less CPU time than at 0.8 ×, which leaves none for the others");
    }
    for (Sample sample : samples.all()) {
      if (sample.is(LoadFigures.LIMITED)) {
        session.note(
            "the client was at its limit: %s at %s ×", sample.server(), sample.situation());
      }
    }
    report(session.facts()).write(directory);
    Files.writeString(directory.resolve("points.csv"), samples.csv(session.facts()));
    System.out.println("report: " + directory.resolve("report.md"));
  }

  Report report(Map<String, String> facts) {
    var report = new Report("Overload: goodput and latency against offered load");
    report.facts(facts);
    report.heading("Goals").items(goals().stream().map(goal -> goal.verdict(samples)).toList());
    report.heading("What was measured").table(samples.wholeTable("server", "load", COLUMNS));
    report.paragraph(
        "Rates are per second. *Shed*: answered with 503. *Turned away*: wanted, but never sent,"
            + " because the server had asked that user to wait. *Lost*: not answered within the"
            + " limit, or failed. Latency is that of right answers and runs from the intended"
            + " time.");
    String across = "offered load, × capacity";
    double most = Math.max(1.1, samples.greatest(GOODPUT_RATIO));
    report.plot(
        "goodput",
        samples.chart(
            "Goodput against offered load",
            across,
            new Axis("right answers, × capacity", 0, most),
            GOODPUT_RATIO));
    double latest = Math.max(10, samples.greatest(P99) / 1e3);
    report.plot(
        "p99",
        samples.chart(
            "99th percentile against offered load",
            across,
            Axis.logarithmic("latency of right answers, ms", 0.1, latest),
            P99.times(1e-3)));
    return report;
  }

  /** Adds what one load came to, in capacities, with what was metered meanwhile. */
  Sample add(String server, double load, double capacity, UserResult result, Sample metered) {
    var sample = sample(server, load, capacity, result).withAll(metered);
    samples.add(sample);
    return sample;
  }

  static Sample sample(String server, double load, double capacity, UserResult result) {
    return Sample.of(Double.toString(load), server, 1)
        .with(CAPACITY, capacity)
        .with(SECONDS, result.nanos() / 1e9)
        .with(OFFERED, result.of(Count.OFFERED))
        .with(GOOD, result.of(Count.GOOD))
        .with(FORWARDED, result.of(Count.GOOD_FORWARDED))
        .with(SHED, result.of(Count.SHED))
        .with(TURNED_AWAY, result.of(Count.TURNED_AWAY))
        .with(TIMED_OUT, result.of(Count.TIMED_OUT))
        .with(FAILED, result.of(Count.FAILED))
        .with(P50, result.latencyMicros(50))
        .with(P99, result.latencyMicros(99))
        .with(LATE_P99, result.latenessMicros(99))
        .with(LoadFigures.BUSY, result.busyRatio())
        .with(LoadFigures.LIMITED, result.isSaturated());
  }

  static List<Goal> goals() {
    return List.of(
        Goal.atLeast(
            0.9,
            "goodput at 3 × capacity at least 0.9 of it",
            samples -> samples.spread(GOODPUT_RATIO, MOST, SHEDDING)),
        Goal.atMost(
            3,
            "p99 of what is answered at 3 × at most 3 × that at 0.8 ×",
            samples -> samples.multiple(P99, SHEDDING, MOST, BELOW)),
        Goal.atMost(
            1.1,
            "memory at 3 × at most 1.1 × that at 0.8 ×",
            samples -> samples.multiple(Meter.RESIDENT, SHEDDING, MOST, BELOW)),
        Goal.atMost(
            0.2,
            "a request that is not served takes at most 0.2 of the CPU time of one that is",
            samples -> cost(samples).filter(known -> known.median() >= 0)));
  }

  /**
   * The CPU time at three times the capacity, less what the answers took, by request that was shed
   * or turned away, as a multiple of that of an answer. Less than 0 if answers were cheaper there
   * than at 0.8 times the capacity: then this method does not tell.
   */
  static Optional<Spread> cost(Samples samples) {
    List<Sample> most = samples.of(MOST, SHEDDING);
    List<Sample> below = samples.of(BELOW, SHEDDING);
    if (most.isEmpty() || below.isEmpty() || most.getFirst().of(NOT_SERVED) == 0) {
      return Optional.empty();
    }
    Sample loaded = most.getFirst();
    double answer = below.getFirst().of(Meter.CPU.per(GOOD));
    double rest = loaded.of(Meter.CPU) - answer * loaded.of(GOOD);
    return Optional.of(Spread.of(rest / loaded.of(NOT_SERVED) / answer));
  }
}
