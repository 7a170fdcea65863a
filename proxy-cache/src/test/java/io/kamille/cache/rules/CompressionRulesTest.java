package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which responses are coded, and what the coded form says (RFC 9110 §7.7, §8.4, §8.8). */
class CompressionRulesTest {

  private static final CompressionRules RULES =
      new CompressionRules(
          List.of(ContentCoding.GZIP), List.of("text/*", "Application/*+JSON"), 100, 1000, false);

  @ParameterizedTest
  @ValueSource(
      strings = {"text/html", "TEXT/plain; charset=utf-8", "text/x ;a=b", "application/a+json"})
  void aListedTypeIsCoded(String type) {
    assertThat(isCodable("Content-Type", type)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"image/png", "textual/html", "application/json", "", "text"})
  void anotherTypeIsNot(String type) {
    assertThat(isCodable("Content-Type", type)).isFalse();
  }

  @Test
  void contentOfUnknownTypeIsNot() {
    assertThat(isCodable()).isFalse();
  }

  @Test
  void section8_4_codedContentIsNotCodedAgain() {
    assertThat(isCodable("Content-Type", "text/html", "Content-Encoding", "br")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Cache-Control", "CDN-Cache-Control"})
  void section7_7_noTransformForbids(String field) {
    assertThat(isCodable("Content-Type", "text/html", field, "max-age=9, no-transform")).isFalse();
  }

  @Test
  void section7_7_noTransformForEverybodyCountsBesideATargetedField() {
    assertThat(
            isCodable(
                "Content-Type",
                "text/html",
                "Cache-Control",
                "no-transform",
                "CDN-Cache-Control",
                "max-age=9"))
        .isFalse();
  }

  @Test
  void aSignedMessageStaysAsItCame() {
    assertThat(isCodable("Content-Type", "text/html", "Signature", "sig1=:AA==:")).isFalse();
  }

  @Test
  void contentShorterOrLongerThanTheLimitsIsNotCoded() {
    ResponseHead head = ResponseHead.of(200, Fields.of("Content-Type", "text/html"));
    assertThat(RULES.isCodable(head, 99)).isFalse();
    assertThat(RULES.isCodable(head, 100)).isTrue();
    assertThat(RULES.isCodable(head, 1000)).isTrue();
    assertThat(RULES.isCodable(head, 1001)).isFalse();
    assertThat(RULES.isCodable(head, -1)).isTrue();
  }

  @Test
  void onlyA200IsCoded() {
    Fields fields = Fields.of("Content-Type", "text/html");
    assertThat(RULES.isCodable(ResponseHead.of(404, fields), 500)).isFalse();
    assertThat(RULES.isCodable(ResponseHead.of(203, fields), 500)).isFalse();
  }

  @Test
  void section12_5_5_varyNamesAcceptEncodingOnce() {
    Fields without = Fields.of("Vary", "Foo");
    CompressionRules.addVary(without);
    assertThat(without.joined(FieldName.VARY)).isEqualTo("Foo, Accept-Encoding");
    Fields with = Fields.of("Vary", "foo, accept-encoding");
    CompressionRules.addVary(with);
    assertThat(with.size()).isEqualTo(1);
  }

  @Test
  void section8_8_1_theTagOfACodedFormIsWeak() {
    assertThat(coded("ETag", "\"a\"").field(FieldName.ETAG)).isEqualTo("W/\"a\"");
    assertThat(coded("ETag", "W/\"a\"").field(FieldName.ETAG)).isEqualTo("W/\"a\"");
  }

  @Test
  void whatTellsOfTheUncodedOctetsIsLeftOut() {
    ResponseHead coded =
        coded(
            "Content-Type",
            "text/html",
            "Accept-Ranges",
            "bytes",
            "Content-MD5",
            "x",
            "Repr-Digest",
            "sha-256=:AA==:");
    assertThat(coded.fields().toString())
        .isEqualTo("Content-Type: text/html\nContent-Encoding: gzip\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/html", "text/*", "application/*+json", "a/b-c.d+e"})
  void aTypeOfTheListHasOneStarAtMost(String type) {
    assertThat(CompressionRules.isType(type)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "text", "*/*", "*", "text/", "text/**", "text/a;q", "te xt/a", "/a"})
  void whatIsNoTypeIsRefused(String type) {
    assertThat(CompressionRules.isType(type)).isFalse();
  }

  private static ResponseHead coded(String... fields) {
    return CompressionRules.coded(ResponseHead.of(200, Fields.of(fields)), ContentCoding.GZIP);
  }

  private static boolean isCodable(String... fields) {
    return RULES.isCodable(ResponseHead.of(200, Fields.of(fields)), 500);
  }
}
