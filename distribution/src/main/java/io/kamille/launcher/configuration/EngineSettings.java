package io.kamille.launcher.configuration;

import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.Pacing;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Optional;

/**
 * How the event loops turn.
 *
 * @param pace between two polls
 * @param stallLimit the longest turn that is not logged; zero to log none
 */
public record EngineSettings(PaceSettings pace, Duration stallLimit) {

  static final Setting<Pacing> PACING =
      Setting.of(
              "engine.pacing",
              Pacing.type(),
              "The least interval between two polls of a loop: none with `off`, a fixed one, or with"
                  + " `adaptive` one that each loop chooses by its load.")
          .defaultsTo(Pacing.ADAPTIVE);

  static final Setting<Duration> LATENCY_BUDGET =
      Setting.of(
              "engine.latency-budget",
              Pacing.latencyBudgetType(),
              "What adaptive pacing may add to a response at the 99th percentile.")
          .defaultsTo(Duration.ofNanos(PaceSettings.ADAPTIVE.latencyBudgetNanos()));

  static final Setting<Optional<Duration>> SPIN =
      Setting.of(
              "engine.spin",
              Pacing.spinLimitType(),
              "The longest time a loop polls without sleeping before it sleeps. Within it the loop"
                  + " chooses by what its waits were like; it never spins when there are fewer idle"
                  + " processors than loops.")
          .defaultsTo(Optional.empty());

  static final Setting<Optional<Duration>> STALL_LIMIT =
      Setting.of(
              "engine.stall-limit",
              ValueTypes.orWord(
                  "off", ValueTypes.duration(Duration.ofMillis(10), Duration.ofMinutes(1))),
              "The longest turn of a loop that is no stall. One that takes half as long again is"
                  + " always logged, with the stack that was running, and counted.")
          .defaultsTo(Optional.of(Duration.ofMillis(250)));

  static final Section SECTION =
      Section.one("engine", "How the event loops turn.", PACING, LATENCY_BUDGET, SPIN, STALL_LIMIT);

  static EngineSettings of(SectionValues values) {
    PaceSettings pace =
        PaceSettings.OFF
            .with(values.value(PACING))
            .withLatencyBudget(values.value(LATENCY_BUDGET).toNanos())
            .withSpinLimit(values.value(SPIN).orElse(Duration.ZERO).toNanos());
    return new EngineSettings(pace, values.value(STALL_LIMIT).orElse(Duration.ZERO));
  }
}
