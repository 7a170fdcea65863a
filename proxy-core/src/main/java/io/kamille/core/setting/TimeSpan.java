package io.kamille.core.setting;

import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A duration as people write it: {@code 500us}, {@code 250ms}, {@code 30s}, {@code 5m}, {@code 1h},
 * {@code 7d}.
 */
public final class TimeSpan {

  private static final long MILLI = 1_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final long MINUTE = 60 * SECOND;
  private static final long HOUR = 60 * MINUTE;
  private static final long NANOS = 1_000;

  private TimeSpan() {}

  /** The duration that {@code text} stands for, or null. The unit must be written. */
  public static @Nullable Duration parse(String text) {
    var quantity = Quantity.parse(text);
    if (quantity == null) {
      return null;
    }
    OptionalLong micros =
        switch (quantity.unit()) {
          case "us" -> quantity.times(1);
          case "ms" -> quantity.times(MILLI);
          case "s" -> quantity.times(SECOND);
          case "m" -> quantity.times(MINUTE);
          case "h" -> quantity.times(HOUR);
          case "d" -> quantity.times(24 * HOUR);
          default -> OptionalLong.empty();
        };
    return micros.isPresent()
        ? Duration.ofSeconds(micros.getAsLong() / SECOND, micros.getAsLong() % SECOND * NANOS)
        : null;
  }

  /** The shortest exact form, which {@link #parse} reads back; days are printed as hours. */
  public static String print(Duration duration) {
    long micros = duration.getSeconds() * SECOND + duration.getNano() / NANOS;
    if (micros == 0) {
      return "0s";
    }
    if (micros % HOUR == 0) {
      return micros / HOUR + "h";
    }
    if (micros % MINUTE == 0) {
      return micros / MINUTE + "m";
    }
    if (micros % SECOND == 0) {
      return micros / SECOND + "s";
    }
    return micros % MILLI == 0 ? micros / MILLI + "ms" : micros + "us";
  }
}
