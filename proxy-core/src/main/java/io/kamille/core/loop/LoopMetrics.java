package io.kamille.core.loop;

import io.kamille.core.loop.LoopMeter.Reading;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The metrics of loops. Any thread. */
final class LoopMetrics {

  static final MetricDescriptor TURNS =
      MetricDescriptor.histogram(
          "kamille_loop_turn_seconds",
          "From the return of a poll to the end of what it brought, tasks included; not measured"
              + " while pacing is off.",
          "loop");

  static final MetricDescriptor CPU =
      MetricDescriptor.counter(
          "kamille_loop_cpu_seconds_total", Unit.SECONDS, "Processor time of a loop.", "loop");

  private static final MetricDescriptor POLLS =
      MetricDescriptor.counter(
          "kamille_loop_polls_total", Unit.COUNT, "Polls for events that a loop made.", "loop");

  private static final MetricDescriptor EVENTS =
      MetricDescriptor.counter(
          "kamille_loop_events_total", Unit.COUNT, "Events that polls brought.", "loop");

  private static final MetricDescriptor PAUSES =
      MetricDescriptor.counter(
          "kamille_loop_pauses_total", Unit.COUNT, "Pauses a loop made between polls.", "loop");

  private static final MetricDescriptor PAUSE_TIME =
      MetricDescriptor.counter(
          "kamille_loop_pause_seconds_total", Unit.SECONDS, "Time spent in pauses.", "loop");

  private static final MetricDescriptor SPINS =
      MetricDescriptor.counter(
          "kamille_loop_spins_total",
          Unit.COUNT,
          "Busy waits a loop made before it would have slept.",
          "loop");

  private static final MetricDescriptor PAID_SPINS =
      MetricDescriptor.counter(
          "kamille_loop_paid_spins_total",
          Unit.COUNT,
          "Busy waits that ended with something to do.",
          "loop");

  private static final MetricDescriptor SPIN_TIME =
      MetricDescriptor.counter(
          "kamille_loop_spin_seconds_total", Unit.SECONDS, "Time spent in busy waits.", "loop");

  private static final MetricDescriptor SPIN_BUDGET =
      MetricDescriptor.gauge(
          "kamille_loop_spin_budget_seconds", Unit.SECONDS, "The longest busy wait, now.", "loop");

  private static final MetricDescriptor INTERVAL =
      MetricDescriptor.gauge(
          "kamille_loop_interval_seconds",
          Unit.SECONDS,
          "The least interval between two polls, now; 0 for none.",
          "loop");

  private static final MetricDescriptor REASON =
      MetricDescriptor.gauge(
          "kamille_loop_interval_reason",
          Unit.COUNT,
          "1 for the reason why the interval is what it is, 0 for the others.",
          "loop",
          "reason");

  private static final MetricDescriptor SAVING =
      MetricDescriptor.gauge(
          "kamille_loop_pacing_saving_ratio",
          Unit.RATIO,
          "The share of CPU time per request that pauses saved in the last trial; 0 before.",
          "loop");

  private static final MetricDescriptor UNCERTAINTY =
      MetricDescriptor.gauge(
          "kamille_loop_pacing_uncertainty_ratio",
          Unit.RATIO,
          "How far the true saving may lie from that, with 95 % confidence; 1 before a trial.",
          "loop");

  private static final MetricDescriptor PAUSE_COST =
      MetricDescriptor.gauge(
          "kamille_loop_pacing_wait_seconds",
          Unit.SECONDS,
          "How much longer an event waited with pauses in the last trial, at the median.",
          "loop");

  private static final MetricDescriptor JUDGEMENT_AGE =
      MetricDescriptor.gauge(
          "kamille_loop_pacing_judgement_age_seconds",
          Unit.SECONDS,
          "Time since the last trial; 0 before the first.",
          "loop");

  private static final MetricDescriptor BUSY =
      MetricDescriptor.counter(
          "kamille_loop_busy_seconds_total",
          Unit.SECONDS,
          "Time spent in turns, neither waiting nor pausing; not measured while pacing is off.",
          "loop");

  private static final MetricDescriptor UTILISATION =
      MetricDescriptor.gauge(
          "kamille_loop_utilisation_ratio",
          Unit.RATIO,
          "The share of the last moments in which a loop was busy; 0 while pacing is off.",
          "loop");

  static final MetricDescriptor STALLS =
      MetricDescriptor.counter(
          "kamille_loop_stalls_total", Unit.COUNT, "Turns that took longer than 250 ms.", "loop");

  private static final MetricDescriptor POLL_COST =
      MetricDescriptor.gauge(
          "kamille_loop_poll_cost_seconds",
          Unit.SECONDS,
          "Processor time that a poll was last seen to cost without pauses, with the sleep around"
              + " it.",
          "loop");

  private static final double NANOS = 1e9;

  private LoopMetrics() {}

  /** Counts of one loop, under the name of its thread. */
  static LoopMeter meter(MetricRegistry registry, String loop) {
    LoopMeter meter = new LoopMeter(registry.histogram(TURNS, loop));
    registry.counting(POLLS, () -> meter.value(Reading.POLLS), loop);
    registry.counting(EVENTS, () -> meter.value(Reading.EVENTS), loop);
    registry.counting(PAUSES, () -> meter.value(Reading.PAUSES), loop);
    registry.counting(PAUSE_TIME, () -> meter.value(Reading.PAUSE_NANOS) / NANOS, loop);
    registry.counting(SPINS, () -> meter.value(Reading.SPINS), loop);
    registry.counting(PAID_SPINS, () -> meter.value(Reading.PAID_SPINS), loop);
    registry.counting(SPIN_TIME, () -> meter.value(Reading.SPIN_NANOS) / NANOS, loop);
    registry.counting(BUSY, () -> meter.value(Reading.BUSY_NANOS) / NANOS, loop);
    registry.gauge(SPIN_BUDGET, () -> meter.value(Reading.SPIN_BUDGET_NANOS) / NANOS, loop);
    registry.gauge(INTERVAL, () -> meter.value(Reading.INTERVAL_NANOS) / NANOS, loop);
    registry.gauge(POLL_COST, () -> meter.value(Reading.POLL_COST_NANOS) / NANOS, loop);
    registry.gauge(UTILISATION, () -> meter.ratio(Reading.UTILISATION), loop);
    registry.gauge(SAVING, () -> judged(meter, PaceJudgement::saving, 0), loop);
    registry.gauge(UNCERTAINTY, () -> judged(meter, PaceJudgement::uncertainty, 1), loop);
    registry.gauge(PAUSE_COST, () -> judged(meter, found -> found.waitNanos() / NANOS, 0), loop);
    registry.gauge(JUDGEMENT_AGE, () -> judged(meter, LoopMetrics::ageSeconds, 0), loop);
    for (PaceReason reason : PaceReason.values()) {
      registry.gauge(REASON, () -> meter.reason() == reason ? 1 : 0, loop, word(reason));
    }
    return meter;
  }

  private static double judged(
      LoopMeter meter, ToDoubleFunction<PaceJudgement> value, double before) {
    PaceJudgement found = meter.judgement();
    return found == null ? before : value.applyAsDouble(found);
  }

  private static double ageSeconds(PaceJudgement found) {
    return (System.nanoTime() - found.nanos()) / NANOS;
  }

  private static String word(PaceReason reason) {
    return reason.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
