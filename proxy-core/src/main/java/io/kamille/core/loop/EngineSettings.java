package io.kamille.core.loop;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import java.time.Duration;
import java.util.Optional;

/** How the event loops turn. */
public record EngineSettings(Pacing pacing, Duration latencyBudget, Optional<Duration> spin) {

  /**
   * The longest turn of a loop that is no stall. One that takes half as long again is logged, with
   * the stack that was running, and counted.
   */
  public static final Duration STALL_LIMIT = Duration.ofMillis(250);

  /** What a command line may say, too. */
  public static final Setting<Pacing> PACING =
      Setting.of(
              "pacing",
              Pacing.type(),
              "The least interval between two polls of a loop. `off` sets none. With `adaptive`,"
                  + " each loop chooses it by its load.")
          .defaultsTo(Pacing.ADAPTIVE);

  public static final Section<EngineSettings> SECTION =
      Section.of(
          EngineSettings.class,
          PACING,
          Setting.of(
                  "latency-budget",
                  Pacing.latencyBudgetType(),
                  "The time that adaptive pacing may add to a response, at the 99th percentile.")
              .defaultsTo(Duration.ofNanos(PaceSettings.ADAPTIVE.latencyBudgetNanos())),
          Setting.of(
                  "spin",
                  Pacing.spinLimitType(),
                  "The longest time a loop polls without sleeping before it sleeps. Within it the"
                      + " loop chooses by what its waits were like; it never spins when there are"
                      + " fewer idle processors than loops.")
              .defaultsTo(Optional.empty()));

  /** How the loops pace themselves, to begin with. */
  public PaceSettings pace() {
    return PaceSettings.OFF
        .with(pacing)
        .withLatencyBudget(latencyBudget.toNanos())
        .withSpinLimit(spin.orElse(Duration.ZERO).toNanos());
  }
}
