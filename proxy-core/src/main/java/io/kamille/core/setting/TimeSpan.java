package io.kamille.core.setting;

import static io.kamille.core.setting.Units.unit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A duration as people write it: {@code 500us}, {@code 250ms}, {@code 30s}, {@code 5m}, {@code 1h},
 * {@code 7d}.
 */
public final class TimeSpan {

  /** In microseconds. Days come last, so that they are printed as hours. */
  private static final Units UNITS =
      new Units(
          List.of(
              unit("h", TimeUnit.HOURS.toMicros(1)),
              unit("m", TimeUnit.MINUTES.toMicros(1)),
              unit("s", TimeUnit.SECONDS.toMicros(1)),
              unit("ms", TimeUnit.MILLISECONDS.toMicros(1)),
              unit("us", 1),
              unit("d", TimeUnit.DAYS.toMicros(1))));

  private TimeSpan() {}

  /** The duration that {@code text} stands for, or null. The unit must be written. */
  public static @Nullable Duration parse(String text) {
    OptionalLong micros = UNITS.parse(text);
    return micros.isPresent() ? Duration.of(micros.getAsLong(), ChronoUnit.MICROS) : null;
  }

  /** The shortest exact form, which {@link #parse} reads back; days are printed as hours. */
  public static String print(Duration duration) {
    return duration.isZero() ? "0s" : UNITS.print(TimeUnit.MICROSECONDS.convert(duration));
  }
}
