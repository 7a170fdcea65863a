package io.kamille.core.loop;

import io.kamille.core.loop.LoopMeter.Reading;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.util.Locale;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;

/** The metrics of loops. Any thread. */
final class LoopMetrics {

  static final MetricDescriptor TURNS =
      MetricDescriptor.histogram(
          "kamille_loop_turn_seconds",
          "From the return of a poll to the end of what it brought, tasks included; not measured"
              + " while pacing is off.",
          "loop");

  static final MetricDescriptor STALLS =
      MetricDescriptor.counter(
          "kamille_loop_stalls_total", "Turns that took longer than 250 ms.", "loop");

  private static final MetricDescriptor REASON =
      MetricDescriptor.gauge(
          "kamille_loop_interval_reason",
          "1 for the reason why the interval is what it is, 0 for the others.",
          "loop",
          "reason");

  private static final double NANOS = 1e9;

  private final MetricRegistry registry;
  private final String loop;
  private final LoopMeter meter;

  private LoopMetrics(MetricRegistry registry, String loop) {
    this.registry = registry;
    this.loop = loop;
    this.meter = new LoopMeter(registry.histogram(TURNS, loop));
  }

  /** Counts of one loop, under the name of its thread. */
  static LoopMeter meter(MetricRegistry registry, String loop) {
    LoopMetrics metrics = new LoopMetrics(registry, loop);
    metrics.work();
    metrics.pace();
    metrics.judgement();
    return metrics.meter;
  }

  private void work() {
    count("kamille_loop_polls_total", Reading.POLLS, "Polls for events that a loop made.");
    count("kamille_loop_events_total", Reading.EVENTS, "Events that polls brought.");
    time(
        "kamille_loop_busy_seconds_total",
        Reading.BUSY_NANOS,
        "Time spent in turns, neither waiting nor pausing; not measured while pacing is off.");
    gauge(
        "kamille_loop_utilisation_ratio",
        () -> meter.ratio(Reading.UTILISATION),
        "The share of the last moments in which a loop was busy; 0 while pacing is off.");
  }

  private void pace() {
    count("kamille_loop_pauses_total", Reading.PAUSES, "Pauses a loop made between polls.");
    time("kamille_loop_pause_seconds_total", Reading.PAUSE_NANOS, "Time spent in pauses.");
    count(
        "kamille_loop_spins_total",
        Reading.SPINS,
        "Busy waits a loop made before it would have slept.");
    count(
        "kamille_loop_paid_spins_total",
        Reading.PAID_SPINS,
        "Busy waits that ended with something to do.");
    time("kamille_loop_spin_seconds_total", Reading.SPIN_NANOS, "Time spent in busy waits.");
    seconds(
        "kamille_loop_spin_budget_seconds",
        Reading.SPIN_BUDGET_NANOS,
        "The longest busy wait, now.");
    seconds(
        "kamille_loop_interval_seconds",
        Reading.INTERVAL_NANOS,
        "The least interval between two polls, now; 0 for none.");
    for (PaceReason reason : PaceReason.values()) {
      registry.gauge(REASON, () -> meter.reason() == reason ? 1 : 0, loop, word(reason));
    }
  }

  /** What the last trial of pauses found. */
  private void judgement() {
    gauge(
        "kamille_loop_pacing_saving_ratio",
        () -> judged(PaceJudgement::saving, 0),
        "The share of CPU time per request that pauses saved in the last trial; 0 before.");
    gauge(
        "kamille_loop_pacing_uncertainty_ratio",
        () -> judged(PaceJudgement::uncertainty, 1),
        "Four of five comparisons saved no less than the saving minus this; 1 before a trial.");
    gauge(
        "kamille_loop_pacing_wait_seconds",
        () -> judged(found -> found.waitNanos() / NANOS, 0),
        "How much longer an event waited with pauses in the last trial, at the median.");
    gauge(
        "kamille_loop_pacing_judgement_age_seconds",
        () -> judged(found -> (System.nanoTime() - found.nanos()) / NANOS, 0),
        "Time since the last trial; 0 before the first.");
  }

  private double judged(ToDoubleFunction<PaceJudgement> value, double before) {
    PaceJudgement found = meter.judgement();
    return found == null ? before : value.applyAsDouble(found);
  }

  private void count(String name, Reading reading, String help) {
    registry.counting(
        MetricDescriptor.counter(name, help, "loop"), () -> meter.value(reading), loop);
  }

  private void time(String name, Reading reading, String help) {
    registry.counting(
        MetricDescriptor.counter(name, help, "loop"), () -> meter.value(reading) / NANOS, loop);
  }

  private void seconds(String name, Reading reading, String help) {
    gauge(name, () -> meter.value(reading) / NANOS, help);
  }

  private void gauge(String name, DoubleSupplier value, String help) {
    registry.gauge(MetricDescriptor.gauge(name, help, "loop"), value, loop);
  }

  private static String word(PaceReason reason) {
    return reason.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
