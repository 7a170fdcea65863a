package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9110 §5.6.7: dates. */
class HttpDateTest {

  private static final long NOVEMBER_1994 = 784_111_777;
  private static final long NOW = 1_800_000_000; // in January 2027

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"
      })
  void theThreeFormatsAreRead(String text) {
    assertThat(HttpDate.parse(text, NOW)).isEqualTo(NOVEMBER_1994);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SUN, 06 nov 1994 08:49:37 gmt",
        "sUnDaY, 06-NOV-94 08:49:37 Gmt",
        "sun nov  6 08:49:37 1994"
      })
  void caseDoesNotMatter(String text) {
    assertThat(HttpDate.parse(text, NOW)).isEqualTo(NOVEMBER_1994);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "-1",
        "now",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +00",
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun,  6 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08.49.37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Tue, 29 Feb 1994 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT",
        "Foo, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 19x4 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunnyday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov 06 08:49:37 1994 GMT",
        "Sun Nov 6 08:49:37 1994",
        " Sun, 06 Nov 1994 08:49:37 GMT"
      })
  void anythingElseIsNoDate(String text) {
    assertThat(HttpDate.parse(text, NOW)).isEqualTo(HttpDate.INVALID);
  }

  @Test
  void absentIsNoDate() {
    assertThat(HttpDate.parse(null, NOW)).isEqualTo(HttpDate.INVALID);
  }

  @Test
  void aLeapSecondIsTheOneBefore() {
    assertThat(HttpDate.parse("Sat, 31 Dec 2016 23:59:60 GMT", NOW))
        .isEqualTo(HttpDate.parse("Sat, 31 Dec 2016 23:59:59 GMT", NOW));
  }

  @Test
  void leapDaysExistInLeapYears() {
    assertThat(HttpDate.format(HttpDate.parse("Sat, 29 Feb 2020 00:00:00 GMT", NOW)))
        .isEqualTo("Sat, 29 Feb 2020 00:00:00 GMT");
    assertThat(HttpDate.parse("Mon, 29 Feb 2100 00:00:00 GMT", NOW)).isEqualTo(HttpDate.INVALID);
  }

  @ParameterizedTest
  @CsvSource({"26, 2026", "28, 2028", "77, 2077", "78, 1978", "94, 1994", "99, 1999", "00, 2000"})
  void aTwoDigitYearMoreThanFiftyYearsAheadIsInThePast(String twoDigits, int year) {
    long parsed = HttpDate.parse("Monday, 01-Jan-" + twoDigits + " 00:00:00 GMT", NOW);
    assertThat(Instant.ofEpochSecond(parsed).atZone(ZoneOffset.UTC).getYear()).isEqualTo(year);
  }

  @Test
  void theDayOfTheWeekIsNotChecked() {
    assertThat(HttpDate.parse("Mon, 06 Nov 1994 08:49:37 GMT", NOW)).isEqualTo(NOVEMBER_1994);
  }

  @Test
  void theEndsOfTimeAreWritten() {
    assertThat(HttpDate.format(0)).isEqualTo("Thu, 01 Jan 1970 00:00:00 GMT");
    assertThat(HttpDate.format(-1)).isEqualTo("Wed, 31 Dec 1969 23:59:59 GMT");
    assertThat(HttpDate.format(253_402_300_799L)).isEqualTo("Fri, 31 Dec 9999 23:59:59 GMT");
  }

  @Test
  void whatIsWrittenIsWhatTheJdkWritesAndIsReadBack() {
    var jdk =
        DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);
    long seed = 20261121;
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 20_000; round++) {
      long second = random.nextLong(-62_135_596_800L, 253_402_300_800L);
      String text = HttpDate.format(second);
      assertThat(text).as("seed %d", seed).isEqualTo(jdk.format(Instant.ofEpochSecond(second)));
      assertThat(HttpDate.parse(text, NOW)).as("seed %d: %s", seed, text).isEqualTo(second);
    }
  }

  @Test
  void damagedDatesNeverThrow() {
    long seed = 20261121;
    SplittableRandom random = new SplittableRandom(seed);
    String[] dates = {
      "Sun, 06 Nov 1994 08:49:37 GMT",
      "Wednesday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994"
    };
    for (int round = 0; round < 100_000; round++) {
      StringBuilder text = new StringBuilder(dates[random.nextInt(dates.length)]);
      for (int i = random.nextInt(4); i > 0 && !text.isEmpty(); i--) {
        int at = random.nextInt(text.length());
        switch (random.nextInt(3)) {
          case 0 -> text.deleteCharAt(at);
          case 1 -> text.insert(at, (char) random.nextInt(256));
          default -> text.setCharAt(at, " ,-:09x\u00ff".charAt(random.nextInt(8)));
        }
      }
      long parsed = HttpDate.parse(text.toString(), NOW);
      assertThat(parsed == HttpDate.INVALID || Math.abs(parsed) < 400_000_000_000L)
          .as("seed %d: %s", seed, text)
          .isTrue();
    }
  }
}
