package io.kamille.core.http;

import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.Year;
import org.jspecify.annotations.Nullable;

/**
 * HTTP dates (RFC 9110 §5.6.7): reads the three formats, writes the preferred one. Stateless; any
 * thread.
 */
public final class HttpDate {

  /** What {@link #parse} answers for anything that is not a date. */
  public static final long INVALID = Long.MIN_VALUE;

  /** Octets of a written date, {@code Sun, 06 Nov 1994 08:49:37 GMT}. */
  public static final int LENGTH = 29;

  private static final int SECONDS_PER_DAY = 86_400;
  private static final String[] DAYS = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  private static final String[] LONG_DAYS = {
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
  };
  private static final String[] MONTHS = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
  };

  private HttpDate() {}

  /**
   * Reads an IMF-fixdate, an RFC 850 date or an asctime date. Letters may have either case, as RFC
   * 9111 §4.2 wants it of caches; the zone must be GMT.
   *
   * @param nowEpochSeconds to place the two-digit year of an RFC 850 date: one that seems more than
   *     50 years ahead means the past
   * @return seconds since the epoch, or {@link #INVALID}
   */
  public static long parse(@Nullable String text, long nowEpochSeconds) {
    if (text == null) {
      return INVALID;
    }
    int comma = text.indexOf(',');
    if (comma == 3 && text.length() == LENGTH) {
      return fixdate(text);
    }
    if (comma > 3) {
      return rfc850(text, comma, nowEpochSeconds);
    }
    return comma < 0 && text.length() == 24 ? asctime(text) : INVALID;
  }

  /** Writes {@code epochSeconds} as an IMF-fixdate. */
  public static String format(long epochSeconds) {
    byte[] octets = new byte[LENGTH];
    format(epochSeconds, octets, 0);
    return new String(octets, StandardCharsets.US_ASCII);
  }

  /** Writes {@code epochSeconds} as an IMF-fixdate at {@code offset}. */
  public static void format(long epochSeconds, byte[] out, int offset) {
    long day = Math.floorDiv(epochSeconds, SECONDS_PER_DAY);
    int second = (int) Math.floorMod(epochSeconds, (long) SECONDS_PER_DAY);
    LocalDate date = LocalDate.ofEpochDay(day);
    ascii(DAYS[date.getDayOfWeek().getValue() - 1], out, offset);
    out[offset + 3] = ',';
    out[offset + 4] = ' ';
    twoDigits(date.getDayOfMonth(), out, offset + 5);
    out[offset + 7] = ' ';
    ascii(MONTHS[date.getMonthValue() - 1], out, offset + 8);
    out[offset + 11] = ' ';
    twoDigits(date.getYear() / 100, out, offset + 12);
    twoDigits(date.getYear() % 100, out, offset + 14);
    out[offset + 16] = ' ';
    twoDigits(second / 3600, out, offset + 17);
    out[offset + 19] = ':';
    twoDigits(second / 60 % 60, out, offset + 20);
    out[offset + 22] = ':';
    twoDigits(second % 60, out, offset + 23);
    ascii(" GMT", out, offset + 25);
  }

  private static long fixdate(String text) {
    // Sun, 06 Nov 1994 08:49:37 GMT
    if (indexOf(DAYS, text, 0) < 0
        || text.charAt(4) != ' '
        || text.charAt(7) != ' '
        || text.charAt(11) != ' '
        || text.charAt(16) != ' '
        || !isAt(text, 25, " GMT")) {
      return INVALID;
    }
    return epochSeconds(
        number(text, 12, 4), indexOf(MONTHS, text, 8), number(text, 5, 2), time(text, 17));
  }

  private static long rfc850(String text, int comma, long nowEpochSeconds) {
    // Sunday, 06-Nov-94 08:49:37 GMT
    int day = indexOf(LONG_DAYS, text, 0);
    if (day < 0
        || LONG_DAYS[day].length() != comma
        || text.length() != comma + 24
        || text.charAt(comma + 1) != ' '
        || text.charAt(comma + 4) != '-'
        || text.charAt(comma + 8) != '-'
        || text.charAt(comma + 11) != ' '
        || !isAt(text, comma + 20, " GMT")) {
      return INVALID;
    }
    int twoDigits = number(text, comma + 9, 2);
    if (twoDigits < 0) {
      return INVALID;
    }
    int thisYear = LocalDate.ofEpochDay(Math.floorDiv(nowEpochSeconds, SECONDS_PER_DAY)).getYear();
    int latest = thisYear + 50;
    int year = latest - Math.floorMod(latest - twoDigits, 100);
    return epochSeconds(
        year, indexOf(MONTHS, text, comma + 5), number(text, comma + 2, 2), time(text, comma + 12));
  }

  private static long asctime(String text) {
    // Sun Nov  6 08:49:37 1994
    if (indexOf(DAYS, text, 0) < 0
        || text.charAt(3) != ' '
        || text.charAt(7) != ' '
        || text.charAt(10) != ' '
        || text.charAt(19) != ' ') {
      return INVALID;
    }
    int dayOfMonth = text.charAt(8) == ' ' ? number(text, 9, 1) : number(text, 8, 2);
    return epochSeconds(number(text, 20, 4), indexOf(MONTHS, text, 4), dayOfMonth, time(text, 11));
  }

  private static long epochSeconds(int year, int month, int dayOfMonth, int secondOfDay) {
    if (year < 0 || month < 0 || dayOfMonth < 1 || secondOfDay < 0) {
      return INVALID;
    }
    int monthLength = java.time.Month.of(month + 1).length(Year.isLeap(year));
    if (dayOfMonth > monthLength) {
      return INVALID;
    }
    return LocalDate.of(year, month + 1, dayOfMonth).toEpochDay() * SECONDS_PER_DAY + secondOfDay;
  }

  /** Seconds of the day, a leap second counted as the one before it, or -1. */
  private static int time(String text, int at) {
    int hour = number(text, at, 2);
    int minute = number(text, at + 3, 2);
    int second = number(text, at + 6, 2);
    if (text.charAt(at + 2) != ':'
        || text.charAt(at + 5) != ':'
        || hour < 0
        || hour > 23
        || minute < 0
        || minute > 59
        || second < 0
        || second > 60) {
      return -1;
    }
    return hour * 3600 + minute * 60 + Math.min(second, 59);
  }

  private static int number(String text, int at, int digits) {
    int value = 0;
    for (int i = at; i < at + digits; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value * 10 + digit;
    }
    return value;
  }

  private static int indexOf(String[] names, String text, int at) {
    for (int i = 0; i < names.length; i++) {
      if (isAt(text, at, names[i])) {
        return i;
      }
    }
    return -1;
  }

  private static boolean isAt(String text, int at, String word) {
    return text.regionMatches(true, at, word, 0, word.length());
  }

  private static void ascii(String text, byte[] out, int at) {
    for (int i = 0; i < text.length(); i++) {
      out[at + i] = (byte) text.charAt(i);
    }
  }

  private static void twoDigits(int value, byte[] out, int at) {
    out[at] = (byte) ('0' + value / 10);
    out[at + 1] = (byte) ('0' + value % 10);
  }
}
