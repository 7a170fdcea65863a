package io.kamille.cache;

import static io.kamille.cache.CacheFixture.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.HttpDate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** For how long a stored response is fresh, and how old it is (RFC 9111 §4.2, §5.1, §5.3). */
class FreshnessConformanceTest {

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  /** Whether a stored response with these fields is fresh now, and no more after the seconds. */
  private void assertFreshFor(long seconds, String... response) {
    String[] all = new String[response.length + 2];
    System.arraycopy(response, 0, all, 0, response.length);
    all[response.length] = "ETag";
    all[response.length + 1] = "\"1\"";
    fixture.fill(200, "hello", all);
    if (seconds > 0) {
      fixture.advance(seconds - 1);
      assertThat(fixture.isReused()).as("one second before the end").isTrue();
      fixture.advance(1);
    }
    assertThat(fixture.isReused()).as("at the end").isFalse();
  }

  private static String in(long seconds) {
    return HttpDate.format(NOW + seconds);
  }

  @Test
  void section4_2FreshWhileTheLifetimeExceedsTheAge() {
    assertFreshFor(60, "Cache-Control", "max-age=60");
  }

  @Test
  void section4_2_1SMaxAgeComesBeforeMaxAgeAndExpires() {
    assertFreshFor(
        30, "Cache-Control", "max-age=60, s-maxage=30", "Expires", in(90), "Date", in(0));
  }

  @Test
  void section4_2_1MaxAgeComesBeforeExpires() {
    assertFreshFor(60, "Expires", in(90), "Cache-Control", "max-age=60", "Date", in(0));
  }

  @Test
  void section4_2_1ExpiresCountsFromDate() {
    assertFreshFor(90, "Expires", in(1090), "Date", in(1000));
  }

  @Test
  void section4_2_1ExpiresCountsFromReceptionWithoutDate() {
    assertFreshFor(90, "Expires", in(90));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "max-age=0",
        "max-age=-1",
        "max-age=60.5",
        "max-age=60s",
        "max-age=x60",
        "max-age='60'",
        "max-age =60",
        "max-age= 60",
        "max-age=",
        "max-age",
        "max-age=60, max-age=30",
        "max-age=30, max-age=60",
        "s-maxage=x, max-age=60",
        "max-age=1, x=\"max-age=60\"",
      })
  void section4_2_1WhatIsInvalidOrContradictoryIsStale(String control) {
    fixture.fill(200, "hello", "Cache-Control", control, "ETag", "\"1\"", "Expires", in(900));
    fixture.advance(1);
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "max-age=60",
        "MaX-aGe=60",
        "max-age=\"60\"",
        "max-age=0060",
        "  max-age=60  ",
        "foo, max-age=60",
        "foo=bar, max-age=60",
        "foo=\"a, max-age=1\", max-age=60",
        ", ,max-age=60,,",
        "max-age=60, max-age=60",
        "max-age=60, unknown",
      })
  void section4_2_1EveryWayToWriteOneLifetimeIsRead(String control) {
    assertFreshFor(60, "Cache-Control", control);
  }

  @ParameterizedTest
  @ValueSource(strings = {"2147483647", "2147483648", "4294967296", "99999999999999999999"})
  void section1_2_2ADeltaTooGreatMeansTheGreatest(String delta) {
    fixture.fill(200, "hello", "Cache-Control", "max-age=" + delta);
    fixture.advance(Integer.MAX_VALUE - 1L);
    assertThat(fixture.isReused()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Mon, 18 Jan 2027 02:00:00 GMT",
        "mon, 18 JAN 2027 02:00:00 gmt",
        "Monday, 18-Jan-27 02:00:00 GMT",
        "monday, 18-jan-27 02:00:00 gmt",
        "Mon Jan 18 02:00:00 2027",
      })
  void section4_2ADateIsReadInThreeFormatsAndInAnyCase(String expires) {
    fixture.fill(200, "hello", "Expires", expires, "Date", "Fri, 15 Jan 2027 08:00:00 GMT");
    assertThat(fixture.isReused()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-1",
        "",
        "Mon, 18 Jan 2027 02:00:00 UTC",
        "Mon, 18 Jan 2027 02:00:00 +0000",
        "Mon, 18 Jan 2027 02:00:00 AEST",
        "Mon, 18 Jan 2027 02:00:00",
        "Mon, 18 Jan 27 02:00:00 GMT",
        "Mon 18 Jan 2027 02:00:00 GMT",
        "Mon, 18  Jan 2027 02:00:00 GMT",
        "Mon, 18-Jan-2027 02:00:00 GMT",
        "Mon, 18 Jan 2027 02.00.00 GMT",
        "Mon, 18 Jan 2027 2:00:00 GMT",
        "Mon, 32 Jan 2027 02:00:00 GMT",
        "2027-01-18T02:00:00Z",
      })
  void section5_3AnInvalidExpiresIsInThePast(String expires) {
    fixture.fill(200, "hello", "Expires", expires, "ETag", "\"1\"", "Last-Modified", in(-90_000));
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void section4_2_1TwoExpiresThatDifferAreStale() {
    assertFreshFor(0, "Expires", in(60), "Expires", in(90));
  }

  @Test
  void section5_3MaxAgeHidesAnInvalidExpires() {
    assertFreshFor(60, "Expires", "0", "Cache-Control", "max-age=60");
  }

  @Test
  void section4_2_2AGuessIsMadeOnlyWithoutExplicitExpiration() {
    assertFreshFor(0, "Last-Modified", in(-90_000), "Cache-Control", "max-age=0");
    assertFreshFor(100, "Last-Modified", in(-1000), "Date", in(0));
  }

  @ParameterizedTest
  @CsvSource({
    "200, true", "203, true", "204, true", "300, true", "301, true", "308, true", "404, true",
    "405, true", "410, true", "414, true", "501, true", "201, false", "202, false", "302, false",
    "303, false", "307, false", "400, false", "403, false", "500, false", "503, false", "599, false"
  })
  void section4_2_2AGuessIsMadeOnlyForStatusCodesThatAllowIt(int status, boolean isGuessed) {
    fixture.fill(status, "", "Last-Modified", in(-86_400), "Date", in(0));
    assertThat(fixture.isReused()).isEqualTo(isGuessed);
  }

  @Test
  void section5_2_2_9PublicAllowsAGuessForAnyStatusCode() {
    fixture.fill(599, "", "Last-Modified", in(-86_400), "Cache-Control", "public");
    assertThat(fixture.isReused()).isTrue();
  }

  @Test
  void section4_2_3TheGreaterOfTwoAgesCounts() {
    assertFreshFor(30, "Cache-Control", "max-age=60", "Date", in(-30), "Age", "10");
    assertFreshFor(20, "Cache-Control", "max-age=60", "Date", in(20), "Age", "40");
  }

  @Test
  void section4_2_3TimeOnTheWayCounts() {
    fixture.get();
    fixture.advance(20);
    fixture.origin.last().respond(200, "hello", "Cache-Control", "max-age=60", "Age", "10");
    assertThat(fixture.get().field("Age")).isEqualTo("30");
  }

  @Test
  void section4_2_3ADateInTheFutureMakesNoNegativeAge() {
    fixture.fill(200, "hello", "Cache-Control", "max-age=60", "Date", in(500));
    assertThat(fixture.get().field("Age")).isEqualTo("0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "7200 | false",
        "7200, 0 | false",
        "2147483647 | false",
        "2147483648 | false",
        "99999999999999999999 | false",
        "0, 7200 | true",
        "0, 0 | true",
        "-7200 | true",
        "7200.0 | true",
        "7200;foo=bar | true",
        "abc | true",
        "`` | true",
        "3599 | true",
        "3600 | false",
      })
  void section5_1TheFirstMemberOfAgeCountsIfItIsANumber(String age, boolean isFresh) {
    fixture.fill(200, "hello", "Cache-Control", "max-age=3600", "ETag", "\"1\"", "Age", age);
    assertThat(fixture.isReused()).isEqualTo(isFresh);
  }

  @Test
  void section5_1TheFirstLineOfAgeCounts() {
    assertFreshFor(10, "Cache-Control", "max-age=60", "Age", "50", "Age", "0");
    assertFreshFor(60, "Cache-Control", "max-age=60", "Age", "0", "Age", "50");
  }

  @Test
  void section4_2_4AStaleResponseIsNotServedUnasked() {
    fixture.store("hello");
    fixture.advance(60);
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"must-revalidate", "proxy-revalidate", "no-cache"})
  void section4_2_4WhatForbidsStaleHoldsAgainstEverythingThatAllowsIt(String forbids) {
    fixture.fill(
        200,
        "hello",
        "Cache-Control",
        "max-age=60, stale-while-revalidate=600, stale-if-error=600, " + forbids,
        "ETag",
        "\"1\"");
    fixture.advance(60);
    assertThat(fixture.isReused()).isFalse();
    assertThat(fixture.isReused("Cache-Control", "max-stale")).isFalse();
    RecordingReply reply = fixture.get("Cache-Control", "stale-if-error=600");
    fixture.origin.last().respond(503, "down");
    assertThat(reply.status()).isEqualTo(503);
  }

  @Test
  void section5_2_2_10SMaxAgeForbidsStaleToTheClient() {
    fixture.fill(200, "hello", "Cache-Control", "s-maxage=60", "ETag", "\"1\"");
    fixture.advance(60);
    assertThat(fixture.isReused("Cache-Control", "max-stale=99")).isFalse();
  }
}
