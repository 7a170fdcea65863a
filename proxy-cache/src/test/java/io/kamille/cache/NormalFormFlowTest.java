package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.VaryBy;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.Sections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Responses that are told apart by normal forms of request fields. */
class NormalFormFlowTest {

  private static final String[] PLAIN = {"Cache-Control", "max-age=60"};

  static CacheFixture varyingBy(String... members) {
    return new CacheFixture(
        4 << 20,
        Sections.copy(TestSettings.of(1 << 20))
            .with("varyBy", new VaryBy(List.of(members)))
            .record());
  }

  @Test
  void clientsWithTheSameBestLanguageShareAResponse() {
    try (CacheFixture fixture = varyingBy("language:de,en")) {
      RecordingReply first = fixture.fill(fields("Accept-Language", "de-CH"), 200, "de", PLAIN);
      assertThat(first.field("Vary")).isEqualTo("accept-language");
      assertThat(fixture.isReused("Accept-Language", "fr, de;q=0.9")).isTrue();
      assertThat(fixture.isReused()).isTrue();
      assertThat(fixture.isReused("Accept-Language", "en")).isFalse();
    }
  }

  /** Otherwise it could answer by a preference that is no part of the key. */
  @Test
  void theOriginIsAskedForTheValueAlone() {
    try (CacheFixture fixture = varyingBy("language:de,en", "images", "cookie:currency")) {
      RecordingReply reply =
          fixture.get("Accept-Language", "fr, de;q=0.9", "Accept", "a/b", "Cookie", "currency=EUR");
      RequestHead asked = fixture.origin.last().request();
      assertThat(asked.fields().all("Accept-Language")).containsExactly("de");
      assertThat(asked.fields().all("Accept")).containsExactly("*/*");
      assertThat(asked.fields().all("Cookie")).containsExactly("currency=EUR");
      fixture.origin.last().respond(200, "x", PLAIN);
      assertThat(reply.text()).isEqualTo("x");
    }
  }

  /** Origins that read fields as CGI variables cannot tell them from ours. */
  @Test
  void fieldsInDisguiseDoNotReachTheOriginBesideOurs() {
    try (CacheFixture fixture = varyingBy("language:de,en", "device", "X-Shop", "x_seen")) {
      String[] disguised = {"Accept.Language", "en", "Sec_CH-UA_Mobile", "?1", "User_Agent", "b"};
      String[] more = {"User_agent", "c", "X_Shop", "d", "X_Seen", "e", "X-Shop", "f"};
      fixture.get(Stream.of(disguised, more).flatMap(Stream::of).toArray(String[]::new));
      Fields asked = fixture.origin.last().request().fields();
      for (String name : List.of("Accept.Language", "Sec_CH-UA_Mobile", "User_Agent", "X_Shop")) {
        assertThat(asked.all(name)).isEmpty();
      }
      assertThat(asked.all("X-Shop")).containsExactly("f");
      assertThat(asked.all("X_Seen")).containsExactly("e");
      assertThat(asked.all("Accept-Language")).containsExactly("de");
    }
  }

  @Test
  void aCookieSpelledOtherwiseBypassesTheCache() {
    try (CacheFixture fixture = varyingBy("cookie:currency")) {
      fixture.store("none");
      String[] spelledOtherwise = {"Cookie", "CURRENCY=EUR; session=1"};
      RecordingReply reply = fixture.fill(fields(spelledOtherwise), 200, "eur", PLAIN);
      assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=bypass; detail=cookie");
      assertThat(reply.field("Vary")).isEqualTo("cookie");
      assertThat(fixture.isReused(spelledOtherwise)).isFalse();
      assertThat(fixture.isReused("Cookie", "currency=EUR")).isFalse();
      assertThat(fixture.isReused()).isTrue();
      assertThat(fixture.handler.explain(RequestHead.of("GET", URI, spelledOtherwise)).because())
          .extracting(step -> step.section() + ": " + step.found())
          .contains(
              "routes[].cache.vary-by: a cookie of vary-by that servers could read differently");
    }
  }

  @Test
  void theOriginsOwnVaryCountsByTheFormToo() {
    try (CacheFixture fixture = varyingBy("cookie:currency")) {
      String[] response = {"Cache-Control", "max-age=60", "Vary", "Cookie"};
      fixture.fill(fields("Cookie", "currency=EUR; track=1"), 200, "eur", response);
      assertThat(fixture.isReused("Cookie", "track=2; currency=EUR")).isTrue();
      assertThat(fixture.isReused("Cookie", "currency=CHF")).isFalse();
    }
  }

  @Test
  void whatIsNamedAsItIsCountsAsItIs() {
    try (CacheFixture fixture = varyingBy("cookie:currency", "Cookie")) {
      fixture.fill(fields("Cookie", "currency=EUR; a=1"), 200, "eur", PLAIN);
      assertThat(fixture.isReused("Cookie", "currency=EUR; a=1")).isTrue();
      assertThat(fixture.isReused("Cookie", "currency=EUR; a=2")).isFalse();
    }
  }

  /** An origin cannot name a form. */
  @Test
  void aFormInVaryOfTheOriginMatchesNothing() {
    try (CacheFixture fixture = varyingBy("cookie:currency")) {
      fixture.fill(200, "x", "Cache-Control", "max-age=60", "Vary", "cookie:a");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aValidationKeepsTheForm() {
    try (CacheFixture fixture = varyingBy("cookie:currency")) {
      String[] asks = {"Cookie", "currency=EUR; a=1"};
      fixture.fill(fields(asks), 200, "x", "Cache-Control", "max-age=60", "ETag", "\"1\"");
      fixture.advance(61);
      fixture.get("Cookie", "currency=EUR; a=2");
      fixture.origin.last().respond(304, "", "Cache-Control", "max-age=60", "ETag", "\"1\"");
      assertThat(fixture.isReused("Cookie", "currency=EUR; a=3")).isTrue();
      assertThat(fixture.isReused("Cookie", "currency=CHF")).isFalse();
    }
  }

  /** For the disk, and for the next process. */
  @Test
  void formsAreKeptWithTheirValues() {
    VaryBy varyBy = new VaryBy(List.of("language:de,en", "cookie:currency", "images"));
    RequestHead request =
        RequestHead.of("GET", URI, "Cookie", "currency=EUR", "Accept-Language", "en", "X-A", "b");
    Fields response = Fields.of("Vary", "X-A, X-B");
    varyBy.addTo(response);
    SelectingFields selecting = SelectingFields.of(response, request, varyBy);
    assertThat(SelectingFields.kept(selecting.names(), selecting.values())).isEqualTo(selecting);
    assertThat(selecting.values()).containsEntry("cookie:currency", "EUR").hasSize(5);
    RequestHead another = RequestHead.of("GET", URI, "Cookie", "a=1");
    selecting.copyTo(another.fields());
    assertThat(selecting.matches(another)).isTrue();
    assertThat(another.fields().all("Cookie")).containsExactly("a=1; currency=EUR");
  }

  @Test
  void anExplanationShowsTheValues() {
    try (CacheFixture fixture = varyingBy("language:de,en", "cookie:currency")) {
      fixture.fill(fields("Cookie", "currency=EUR"), 200, "x", PLAIN);
      RequestHead request = RequestHead.of("GET", URI, "Accept-Language", "en-GB");
      assertThat(fixture.handler.explain(request).because())
          .extracting(step -> step.rule() + ": " + step.found())
          .contains(
              "normal-form: language:de,en is \"en\"",
              "normal-form: cookie:currency is absent",
              "variant: language:de,en was \"de\", is \"en\"");
    }
  }

  @Test
  void aPurgeOfTheUrlRemovesAllVariants() {
    try (CacheFixture fixture = varyingBy("cookie:currency")) {
      fixture.fill(fields("Cookie", "currency=EUR"), 200, "x", PLAIN);
      fixture.fill(fields("Cookie", "currency=CHF"), 200, "x", PLAIN);
      assertThat(fixture.cache.operations().purge(URI)).hasValue(2);
      assertThat(fixture.isReused("Cookie", "currency=EUR")).isFalse();
    }
  }

  @Test
  void whereTheLimitOfVariantsIsMetCacheStatusSaysSo() {
    try (CacheFixture fixture = varyingBy("cookie:currency")) {
      fixture.cache.operations().index().keepVariants(2);
      fixture.fill(fields("Cookie", "currency=EUR"), 200, "x", PLAIN);
      fixture.advance(1);
      fixture.fill(fields("Cookie", "currency=CHF"), 200, "x", PLAIN);
      fixture.advance(1);
      RecordingReply third = fixture.fill(fields("Cookie", "currency=USD"), 200, "x", PLAIN);
      assertThat(third.field("Cache-Status"))
          .isEqualTo("kamille; fwd=vary-miss; stored; ttl=60; detail=variant-limit");
      assertThat(fixture.isReused("Cookie", "currency=USD")).isTrue();
      assertThat(fixture.isReused("Cookie", "currency=CHF")).isTrue();
      assertThat(fixture.isReused("Cookie", "currency=EUR")).isFalse();
    }
  }
}
