package io.kamille.cache.tiers.peak;

import java.time.LocalTime;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A part of every day.
 *
 * @param from its first moment
 * @param to its end, which does not belong to it; on the next day if it is before {@code from}
 */
public record PeakHours(LocalTime from, LocalTime to) {

  private static final Pattern FORM =
      Pattern.compile("([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]");
  private static final int TIME_LENGTH = 5;

  /** Two times such as {@code 11:45-13:15} that are not the same; null for anything else. */
  public static @Nullable PeakHours parse(String text) {
    if (!FORM.matcher(text).matches()) {
      return null;
    }
    LocalTime from = LocalTime.parse(text.substring(0, TIME_LENGTH));
    LocalTime to = LocalTime.parse(text.substring(TIME_LENGTH + 1));
    return from.equals(to) ? null : new PeakHours(from, to);
  }

  /** Whether that time of the day belongs to it. */
  public boolean has(LocalTime time) {
    boolean isFromOn = !time.isBefore(from);
    boolean isBeforeEnd = time.isBefore(to);
    return from.isBefore(to) ? isFromOn && isBeforeEnd : isFromOn || isBeforeEnd;
  }

  @Override
  public String toString() {
    return from + "-" + to;
  }
}
