package io.kamille.core.loop;

import io.kamille.core.loop.PaceSettings.Mode;
import io.kamille.core.setting.Parsed;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Optional;

/**
 * Who chooses the interval between two polls of a loop, as people write it: {@code adaptive},
 * {@code off} or an interval such as {@code 500us}.
 *
 * @param interval when it is fixed, else zero
 */
public record Pacing(Mode mode, Duration interval) {

  public static final Pacing OFF = new Pacing(Mode.OFF, Duration.ZERO);
  public static final Pacing ADAPTIVE = new Pacing(Mode.ADAPTIVE, Duration.ZERO);

  private static final ValueType<Duration> INTERVAL =
      ValueTypes.duration(Duration.ofNanos(50_000), Duration.ofMillis(100));

  /** How it is written. */
  public static ValueType<Pacing> type() {
    return new ValueType<>(
        "`adaptive`, `off` or duration", INTERVAL.bounds(), Pacing::parse, Pacing::print);
  }

  /** How a latency budget is written. */
  public static ValueType<Duration> latencyBudgetType() {
    return ValueTypes.duration(Duration.ofNanos(50_000), Duration.ofMillis(20));
  }

  /** How the limit of the busy wait is written. */
  public static ValueType<Optional<Duration>> spinLimitType() {
    return ValueTypes.orWord(
        "off", ValueTypes.duration(Duration.ofNanos(1_000), Duration.ofMillis(100)));
  }

  /** How a least saving is written. */
  public static ValueType<Double> leastSavingType() {
    return ValueTypes.orWord("off", 0.0, ValueTypes.ratio());
  }

  private static Parsed<Pacing> parse(String text) {
    return switch (text) {
      case "off" -> new Parsed.Value<>(OFF);
      case "adaptive" -> new Parsed.Value<>(ADAPTIVE);
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
    return switch (pacing.mode) {
      case OFF -> "off";
      case ADAPTIVE -> "adaptive";
      case FIXED -> INTERVAL.print(pacing.interval);
    };
  }
}
