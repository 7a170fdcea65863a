package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.h1.Spoiler;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Dates of any year, and texts that are nearly dates (RFC 9110 §5.6.7). */
class HttpDateFuzzTest {

  private static final int ROUNDS = 10_000;
  private static final long YEAR_0 = -62_167_219_200L;
  private static final long YEAR_10000 = 253_402_300_800L;
  private static final long YEAR_100 = -59_011_459_200L;
  private static final long YEAR_9900 = 250_246_627_200L;
  private static final long DAYS_49_YEARS = 49 * 365;

  private static final DateTimeFormatter RFC_850 = formatter("EEEE, dd-MMM-uu HH:mm:ss 'GMT'");
  private static final DateTimeFormatter ASCTIME = formatter("EEE MMM ppd HH:mm:ss uuuu");

  private static final List<String> SOUND =
      List.of(
          "Sun, 06 Nov 1994 08:49:37 GMT",
          "Thu, 29 Feb 2024 23:59:60 GMT",
          "Sunday, 06-Nov-94 08:49:37 GMT",
          "Wednesday, 31-Dec-25 00:00:00 GMT",
          "Sun Nov  6 08:49:37 1994",
          "Thu Feb 29 23:59:59 2024");
  private static final List<String> WORDS =
      List.of(
          "Mon", "Tuesday", "sat", "Jan", "FEB", "Dec", "GMT", "UTC", "+0000", " ", "  ", ",", "-",
          ":", "0", "00", "1", "9", "29", "30", "31", "60", "99", "1900", "2100", "\t", "\u00e4",
          "\u0000");

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);

  private static DateTimeFormatter formatter(String pattern) {
    return DateTimeFormatter.ofPattern(pattern, Locale.US).withZone(ZoneOffset.UTC);
  }

  @Test
  void whatIsWrittenIsReadBack() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      long seconds = random.nextLong(YEAR_0, YEAR_10000);
      String text = HttpDate.format(seconds);
      assertThat(HttpDate.parse(text, random.nextLong(YEAR_0, YEAR_10000)))
          .as(because(text))
          .isEqualTo(seconds);
      assertThat(HttpDate.parse(ASCTIME.format(Instant.ofEpochSecond(seconds)), 0))
          .as(because(text))
          .isEqualTo(seconds);
    }
    budget.report("dates written and read");
  }

  @Test
  void theThreeFormsOfADateWithinFiftyYearsAgree() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      long now = random.nextLong(YEAR_100, YEAR_9900);
      long days = random.nextLong(-DAYS_49_YEARS, DAYS_49_YEARS);
      long seconds = now + days * 86_400 + random.nextInt(86_400);
      String text = RFC_850.format(Instant.ofEpochSecond(seconds));
      assertThat(HttpDate.parse(text, now)).as(because(text + " at " + now)).isEqualTo(seconds);
      assertThat(HttpDate.parse(HttpDate.format(seconds), now)).isEqualTo(seconds);
    }
    budget.report("three forms of dates");
  }

  @Test
  void whatIsReadOfSpoiledTextStandsThere() {
    Spoiler spoiler = new Spoiler(random, SOUND, WORDS);
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      check(spoiler.next());
    }
    budget.report("spoiled dates");
  }

  static void check(String text) {
    long seconds = HttpDate.parse(text, 1_800_000_000);
    if (seconds != HttpDate.INVALID) {
      assertThat(forms(seconds)).as(because(text)).contains(withoutDay(text));
    }
  }

  /** All that may be read as these seconds, without the day of the week, which nobody checks. */
  private static List<String> forms(long seconds) {
    Instant instant = Instant.ofEpochSecond(seconds);
    return List.of(
        withoutDay(HttpDate.format(seconds)),
        withoutDay(RFC_850.format(instant)),
        withoutDay(ASCTIME.format(instant)),
        withoutDay(ASCTIME.format(instant).replaceFirst("  ([1-9]) ", " 0$1 ")));
  }

  /** In lower case, a leap second as the one before it. */
  private static String withoutDay(String text) {
    return text.toLowerCase(Locale.ROOT)
        .replaceFirst("^[a-z]+,? ", "")
        .replaceFirst("(:[0-9]{2}):60", "$1:59");
  }

  private static String because(String text) {
    return "seed " + FuzzBudget.SEED + ": '" + text + "'";
  }
}
