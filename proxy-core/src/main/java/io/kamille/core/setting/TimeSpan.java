package io.kamille.core.setting;

import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A duration as people write it: {@code 250ms}, {@code 30s}, {@code 5m}, {@code 1h}, {@code 7d}.
 */
public final class TimeSpan {

  private static final long SECOND = 1_000;
  private static final long MINUTE = 60 * SECOND;
  private static final long HOUR = 60 * MINUTE;

  private TimeSpan() {}

  /** The duration that {@code text} stands for, or null. The unit must be written. */
  public static @Nullable Duration parse(String text) {
    var quantity = Quantity.parse(text);
    if (quantity == null) {
      return null;
    }
    OptionalLong millis =
        switch (quantity.unit()) {
          case "ms" -> quantity.times(1);
          case "s" -> quantity.times(SECOND);
          case "m" -> quantity.times(MINUTE);
          case "h" -> quantity.times(HOUR);
          case "d" -> quantity.times(24 * HOUR);
          default -> OptionalLong.empty();
        };
    return millis.isPresent() ? Duration.ofMillis(millis.getAsLong()) : null;
  }

  /** The shortest exact form, which {@link #parse} reads back; days are printed as hours. */
  public static String print(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    if (millis % HOUR == 0) {
      return millis / HOUR + "h";
    }
    if (millis % MINUTE == 0) {
      return millis / MINUTE + "m";
    }
    return millis % SECOND == 0 ? millis / SECOND + "s" : millis + "ms";
  }
}
