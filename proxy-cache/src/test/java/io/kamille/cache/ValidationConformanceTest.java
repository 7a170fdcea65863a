package io.kamille.cache;

import static io.kamille.cache.CacheFixture.NOW;
import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.HttpDate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Preconditions received and sent, and what answers to them change (RFC 9111 §4.3). */
class ValidationConformanceTest {

  private static final String TAG = "\"v1\"";

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private static String in(long seconds) {
    return HttpDate.format(NOW + seconds);
  }

  // §4.3.1

  @Test
  void section4_3_1BothValidatorsAreSentAsTheyCame() {
    fixture.store("hello", "ETag", "W/" + TAG, "Last-Modified", in(-1000));
    fixture.advance(60);
    fixture.get();
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo("W/" + TAG);
    assertThat(fixture.origin.last().field(FieldName.IF_MODIFIED_SINCE)).isEqualTo(in(-1000));
    fixture.origin.last().respond(304, "");
  }

  @Test
  void section4_3_1TheSelectingFieldsGoAlong() {
    fixture.fill(
        fields("Abc", "123"), 200, "", "Cache-Control", "max-age=9", "ETag", TAG, "Vary", "Abc");
    fixture.advance(9);
    fixture.get("Abc", "123");
    assertThat(fixture.origin.last().request().fields().all("Abc")).containsExactly("123");
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo(TAG);
    fixture.origin.last().respond(304, "");
  }

  @ParameterizedTest
  @ValueSource(strings = {"v1", "'v1'", "\"v1", "w/\"v1\"", "W\"v1\"", "\"v 1\"", "\"v1\", \"v2\""})
  void section4_3_1WhatIsNoEntityTagIsNotSentAsOne(String tag) {
    fixture.store("hello", "ETag", tag);
    fixture.advance(60);
    fixture.get();
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isNull();
    fixture.origin.last().respond(200, "", "Cache-Control", "no-store");
  }

  @Test
  void section4_3_1TheClientsPreconditionsAndRangesAreNotSentInstead() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(60);
    fixture.get("If-None-Match", "\"other\"", "Range", "bytes=0-1", "If-Range", "\"x\"");
    var sent = fixture.origin.last().request().fields();
    assertThat(sent.all("If-None-Match")).containsExactly(TAG);
    assertThat(sent.all("Range")).isEmpty();
    assertThat(sent.all("If-Range")).isEmpty();
    fixture.origin.last().respond(304, "", "ETag", TAG);
  }

  // §4.3.2

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"v1\" | 304",
        "W/\"v1\" | 304",
        "\"v0\", \"v1\", \"v2\" | 304",
        "\"v0\",\"v1\" | 304",
        ", \"v1\" , | 304",
        "* | 304",
        "\"v0\" | 200",
        "v1 | 200",
        "w/\"v1\" | 200",
        "W\"v1\" | 200",
        "\"v1 | 200",
        "\"v1\"x | 200",
        "\"V1\" | 200",
      })
  void section4_3_2IfNoneMatchIsComparedWeaklyWithEachMember(String condition, int status) {
    fixture.store("hello", "ETag", TAG);
    assertThat(fixture.get("If-None-Match", condition).status()).isEqualTo(status);
    assertThat(fixture.send("HEAD", URI, "If-None-Match", condition).status()).isEqualTo(status);
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void section4_3_2AWeakStoredTagMatchesToo() {
    fixture.store("hello", "ETag", "W/" + TAG);
    assertThat(fixture.get("If-None-Match", TAG).status()).isEqualTo(304);
    assertThat(fixture.get("If-None-Match", "\"a\"", "If-None-Match", TAG).status()).isEqualTo(304);
  }

  @Test
  void section4_3_2ATagWithObsoleteTextMatches() {
    fixture.store("hello", "ETag", "\"v\u00fc\"");
    assertThat(fixture.get("If-None-Match", "\"v\u00fc\"").status()).isEqualTo(304);
  }

  @Test
  void section4_3_2IfNoneMatchComesBeforeIfModifiedSince() {
    fixture.store("hello", "ETag", TAG, "Last-Modified", in(-1000));
    assertThat(fixture.get("If-None-Match", TAG, "If-Modified-Since", in(-5000)).status())
        .isEqualTo(304);
    assertThat(fixture.get("If-None-Match", "\"v0\"", "If-Modified-Since", in(0)).status())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({"-1000, 304", "-999, 304", "0, 304", "-1001, 200", "-5000, 200"})
  void section4_3_2IfModifiedSinceIsComparedWithLastModified(long since, int status) {
    fixture.store("hello", "Last-Modified", in(-1000), "Date", in(0));
    assertThat(fixture.get("If-Modified-Since", in(since)).status()).isEqualTo(status);
  }

  @ParameterizedTest
  @CsvSource({"0, 304", "10, 304", "-1, 200", "-3000, 200"})
  void section4_3_2OrElseWithDate(long since, int status) {
    fixture.store("hello", "Date", in(0));
    assertThat(fixture.get("If-Modified-Since", in(since)).status()).isEqualTo(status);
  }

  @ParameterizedTest
  @CsvSource({"0, 304", "-1, 200"})
  void section4_3_2OrElseWithTheTimeOfReception(long since, int status) {
    fixture.store("hello");
    assertThat(fixture.get("If-Modified-Since", in(since)).status()).isEqualTo(status);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "yesterday", "Mon, 18 Jan 2027 02:00:00 UTC"})
  void section4_3_2AConditionThatIsNoDateIsIgnored(String since) {
    fixture.store("hello", "Last-Modified", in(-1000));
    assertThat(fixture.get("If-Modified-Since", since).status()).isEqualTo(200);
  }

  @Test
  void section4_3_2AnEquivalentDateInAnotherFormatMatches() {
    fixture.store("hello", "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT");
    assertThat(fixture.get("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT").status())
        .isEqualTo(304);
    assertThat(fixture.get("If-Modified-Since", "Sun Nov  6 08:49:37 1994").status())
        .isEqualTo(304);
  }

  @ParameterizedTest
  @ValueSource(strings = {"If-Match", "If-Unmodified-Since"})
  void section4_3_2PreconditionsForTheOriginAreNotJudgedHere(String name) {
    fixture.store("hello", "ETag", TAG);
    String value = name.equals("If-Match") ? TAG : in(0);
    RecordingReply reply = fixture.get(name, value);
    assertThat(fixture.origin.last().request().fields().all(name)).containsExactly(value);
    fixture.origin.last().respond(412, "");
    assertThat(reply.status()).isEqualTo(412);
  }

  @Test
  void section4_3_2OnlyASuccessfulResponseIsJudged() {
    fixture.fill(404, "gone", "Cache-Control", "max-age=60", "ETag", TAG);
    assertThat(fixture.get("If-None-Match", TAG).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {"\"v1\" | 206", "\"v0\" | 200", "W/\"v1\" | 200", "* | 200", "v1 | 200"})
  void section4_3_2IfRangeIsComparedStrongly(String condition, int status) {
    fixture.store("0123456789", "ETag", TAG);
    assertThat(fixture.get("Range", "bytes=0-4", "If-Range", condition).status()).isEqualTo(status);
  }

  @ParameterizedTest
  @CsvSource({"-1000, 206", "-999, 200", "-1001, 200"})
  void section4_3_2IfRangeWithADateMustBeThatDate(long date, int status) {
    fixture.store("0123456789", "Last-Modified", in(-1000), "Date", in(0));
    assertThat(fixture.get("Range", "bytes=0-4", "If-Range", in(date)).status()).isEqualTo(status);
  }

  @Test
  void section4_3_2ANotModifiedCarriesTheMetadataOfTheStoredResponse() {
    fixture.store("hello", "ETag", TAG, "Vary", "A", "Expires", in(60), "Content-Location", "/x");
    RecordingReply reply = fixture.get("If-None-Match", TAG);
    assertThat(reply.field("ETag")).isEqualTo(TAG);
    assertThat(reply.field("Vary")).isEqualTo("A");
    assertThat(reply.field("Expires")).isEqualTo(in(60));
    assertThat(reply.field("Cache-Control")).isEqualTo("max-age=60");
    assertThat(reply.field("Content-Location")).isEqualTo("/x");
    assertThat(reply.field("Date")).isEqualTo(in(0));
    assertThat(reply.field("Age")).isEqualTo("0");
  }

  @Test
  void section4_3_2TheClientsListIsJudgedAfterValidation() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(60);
    RecordingReply reply = fixture.get("If-None-Match", "\"v0\"");
    fixture.origin.last().respond(304, "", "ETag", TAG);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("hello");
  }

  // §4.3.3

  @Test
  void section4_3_3AFullResponseIsUsedAndStored() {
    fixture.store("old", "ETag", TAG);
    fixture.advance(60);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60");
    assertThat(reply.text()).isEqualTo("new");
    assertThat(fixture.get().text()).isEqualTo("new");
  }

  @Test
  void section4_3_3AServerErrorIsForwarded() {
    fixture.store("old", "ETag", TAG);
    fixture.advance(60);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(500, "broken");
    assertThat(reply.status()).isEqualTo(500);
  }

  // §4.3.4

  @Test
  void section4_3_4AnotherStrongTagUpdatesNothing() {
    fixture.store("old", "ETag", TAG, "A", "1");
    fixture.advance(60);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(304, "", "ETag", "\"v2\"", "A", "2");
    assertThat(reply.isBegun()).isFalse();
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isNull();
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60", "ETag", "\"v2\"");
    assertThat(reply.text()).isEqualTo("new");
  }

  @Test
  void section4_3_4AllSelectedResponsesWithThatStrongTagAreUpdated() {
    fixture.fill(
        fields("A", "1"), 200, "same", "Cache-Control", "max-age=60", "ETag", TAG, "Vary", "A");
    fixture.advance(60);
    fixture.get("A", "1", "B", "1");
    fixture
        .origin
        .last()
        .respond(200, "same", "Cache-Control", "max-age=30", "ETag", TAG, "Vary", "B");
    fixture.advance(30);
    fixture.get("A", "1", "B", "1");
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=600");
    assertThat(fixture.isReused("A", "1")).as("selected by A").isTrue();
    assertThat(fixture.isReused("B", "1")).as("selected by B").isTrue();
  }

  @Test
  void section4_3_4ANotSelectedVariantIsLeftAlone() {
    String[] response = fields("Cache-Control", "max-age=60", "ETag", TAG, "Vary", "A");
    fixture.fill(fields("A", "1"), 200, "same", response);
    fixture.fill(fields("A", "2"), 200, "same", response);
    fixture.advance(60);
    fixture.get("A", "1");
    fixture.origin.last().respond(304, "", "ETag", TAG);
    assertThat(fixture.isReused("A", "1")).isTrue();
    assertThat(fixture.isReused("A", "2")).isFalse();
  }

  @Test
  void section4_3_4AWeakTagUpdatesWhatItCorrespondsTo() {
    fixture.store("hello", "ETag", "W/" + TAG);
    fixture.advance(60);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(304, "", "ETag", "W/" + TAG, "A", "2");
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("A")).isEqualTo("2");
  }

  @Test
  void section4_3_4TheAgeBeginsAnewWithValidation() {
    fixture.store("hello", "ETag", TAG, "Age", "30");
    fixture.advance(40);
    fixture.get();
    fixture.origin.last().respond(304, "", "ETag", TAG);
    fixture.advance(5);
    assertThat(fixture.get().field("Age")).isEqualTo("5");
  }

  @Test
  void section4_3_4ANotModifiedThatForbidsStoringEndsIt() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(60);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "private");
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(fixture.cache.operations().keys()).isZero();
  }

  // §4.3.5

  @Test
  void section4_3_5AHeadResponseThatAgreesUpdatesTheStoredOne() {
    fixture.store("hello", "A", "1", "B", "1", "ETag", TAG);
    fixture.advance(60);
    RecordingReply reply = fixture.send("HEAD", URI);
    fixture.origin.last().head(200, 5, "A", "2", "ETag", TAG, "Cache-Control", "max-age=600").end();
    assertThat(reply.field("A")).isEqualTo("2");
    assertThat(reply.field("B")).isEqualTo("1");
    fixture.advance(100);
    RecordingReply hit = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    assertThat(hit.text()).isEqualTo("hello");
    assertThat(hit.field("A")).isEqualTo("2");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "ETag | \"v2\" | 5",
        "Last-Modified | Sun, 06 Nov 1994 08:49:37 GMT | 5",
        "A | 1 | 6"
      })
  void section4_3_5AHeadResponseThatDiffersMakesTheStoredOneUnusable(
      String name, String value, long length) {
    fixture.store("hello", "ETag", TAG, "Last-Modified", in(-1000));
    fixture.advance(60);
    RecordingReply reply = fixture.send("HEAD", URI);
    fixture.origin.last().head(200, length, name, value, "Cache-Control", "max-age=600").end();
    assertThat(reply.status()).isEqualTo(200);
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {5, -1})
  void section4_3_5AHeadResponseWithoutValidatorsThatDiffersInNothingLeavesTheStoredOneAsItWas(
      long length) {
    fixture.store("hello", "A", "1");
    RecordingReply reply = fixture.send("HEAD", URI, "Cache-Control", "no-cache");
    fixture.origin.last().head(200, length, "A", "2", "Cache-Control", "max-age=600").end();
    assertThat(reply.field("A")).isEqualTo("2");
    fixture.advance(59);
    RecordingReply hit = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    assertThat(hit.text()).isEqualTo("hello");
    assertThat(hit.field("A")).isEqualTo("1");
    fixture.advance(1);
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void section3_5WhatAnAuthorizedHeadIsToldRemovesNothing() {
    fixture.store("hello");
    fixture.send("HEAD", URI, "Cache-Control", "no-cache", "Authorization", "x");
    fixture.origin.last().head(200, 7, "ETag", "\"mine\"").end();
    assertThat(fixture.get().text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"max-age=600", "private", "no-store"})
  void section3_5WhatAnAuthorizedClientIsToldLeavesTheStoredResponseAsItWas(String control) {
    fixture.store("hello", "A", "1", "ETag", TAG);
    RecordingReply reply = fixture.get("Cache-Control", "no-cache", "Authorization", "x");
    fixture.origin.last().respond(304, "", "A", "2", "ETag", TAG, "Cache-Control", control);
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("A")).isEqualTo("2");
    fixture.advance(59);
    RecordingReply hit = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    assertThat(hit.text()).isEqualTo("hello");
    assertThat(hit.field("A")).isEqualTo("1");
    fixture.advance(1);
    assertThat(fixture.isReused()).isFalse();
  }

  /** Who waited for the answer to one that is authorized goes alone, all at a time. */
  @Test
  void section3_5NobodySharesWhatAnAuthorizedClientIsTold() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(60);
    RecordingReply first = fixture.get("Authorization", "x");
    RecordingReply second = fixture.get("Authorization", "y");
    RecordingReply third = fixture.get("Authorization", "z");
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=600");
    fixture.run();
    assertThat(first.text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(4);
    for (var forwarded : fixture.origin.requests().subList(2, 4)) {
      forwarded.respond(304, "", "ETag", TAG, "Cache-Control", "max-age=600");
    }
    assertThat(second.text()).isEqualTo("hello");
    assertThat(third.text()).isEqualTo("hello");
  }

  @Test
  void section4_3_5AHeadThatMayNotBeStoredUpdatesNothing() {
    fixture.store("hello", "A", "1", "ETag", TAG);
    fixture.advance(60);
    fixture.send("HEAD", URI, "Cache-Control", "no-store");
    fixture.origin.last().head(200, 5, "ETag", TAG, "Cache-Control", "max-age=600").end();
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void section4_3_5OnlyA200ToHeadUpdates() {
    fixture.store("hello", "A", "1");
    fixture.advance(60);
    RecordingReply reply = fixture.send("HEAD", URI);
    fixture.origin.last().head(410, 5, "A", "2", "Cache-Control", "max-age=600").end();
    assertThat(reply.status()).isEqualTo(410);
    assertThat(fixture.isReused()).isFalse();
  }
}
