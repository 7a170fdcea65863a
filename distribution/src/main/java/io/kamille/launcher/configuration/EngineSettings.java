package io.kamille.launcher.configuration;

import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.PaceSettings.Mode;
import io.kamille.core.setting.Parsed;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Optional;

/**
 * How the event loops turn.
 *
 * @param pacing who chooses the interval between two polls
 * @param latencyBudget what an adaptive interval may add to a response at the 99th percentile
 * @param spinLimit the longest busy wait; zero for none
 */
public record EngineSettings(Pacing pacing, Duration latencyBudget, Duration spinLimit) {

  /**
   * Who chooses the interval between two polls of a loop.
   *
   * @param interval when it is fixed, else zero
   */
  public record Pacing(Mode mode, Duration interval) {

    static final Pacing OFF = new Pacing(Mode.OFF, Duration.ZERO);
    static final Pacing ADAPTIVE = new Pacing(Mode.ADAPTIVE, Duration.ZERO);
  }

  private static final ValueType<Duration> INTERVAL =
      ValueTypes.duration(Duration.ofNanos(50_000), Duration.ofMillis(100));

  static final Setting<Pacing> PACING =
      Setting.of(
              "engine.pacing",
              new ValueType<>(
                  "`adaptive`, `off` or duration",
                  INTERVAL.bounds(),
                  EngineSettings::pacing,
                  EngineSettings::print),
              "The least interval between two polls of a loop: none with `off`, a fixed one, or with"
                  + " `adaptive` one that each loop chooses by its load.")
          .defaultsTo(Pacing.OFF);

  static final Setting<Duration> LATENCY_BUDGET =
      Setting.of(
              "engine.latency-budget",
              ValueTypes.duration(Duration.ofNanos(50_000), Duration.ofMillis(20)),
              "What adaptive pacing may add to a response at the 99th percentile.")
          .defaultsTo(Duration.ofNanos(500_000));

  static final Setting<Optional<Duration>> SPIN =
      Setting.of(
              "engine.spin",
              ValueTypes.orWord(
                  "off", ValueTypes.duration(Duration.ofNanos(1_000), Duration.ofMillis(100))),
              "The longest time a loop polls without sleeping before it sleeps. Within it the loop"
                  + " chooses by what such waits bring; it never spins when there are fewer idle"
                  + " processors than loops.")
          .defaultsTo(Optional.empty());

  static final Section SECTION =
      Section.one("engine", "How the event loops turn.", PACING, LATENCY_BUDGET, SPIN);

  static EngineSettings of(SectionValues values) {
    return new EngineSettings(
        values.value(PACING),
        values.value(LATENCY_BUDGET),
        values.value(SPIN).orElse(Duration.ZERO));
  }

  /** The same for the loops. */
  public PaceSettings pace() {
    return new PaceSettings(
        pacing.mode(), pacing.interval().toNanos(), latencyBudget.toNanos(), spinLimit.toNanos());
  }

  private static Parsed<Pacing> pacing(String text) {
    return switch (text) {
      case "off" -> new Parsed.Value<>(Pacing.OFF);
      case "adaptive" -> new Parsed.Value<>(Pacing.ADAPTIVE);
      default ->
          switch (INTERVAL.parse(text)) {
            case Parsed.Value<Duration>(Duration interval) ->
                new Parsed.Value<>(new Pacing(Mode.FIXED, interval));
            case Parsed.Refused<Duration>(String expected) ->
                new Parsed.Refused<>("adaptive, off, or " + expected);
          };
    };
  }

  private static String print(Pacing pacing) {
    return switch (pacing.mode()) {
      case OFF -> "off";
      case ADAPTIVE -> "adaptive";
      case FIXED -> INTERVAL.print(pacing.interval());
    };
  }
}
