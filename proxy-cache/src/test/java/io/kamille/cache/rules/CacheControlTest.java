package io.kamille.cache.rules;

import static io.kamille.cache.rules.CacheControl.ABSENT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §5.2: reading cache directives. */
class CacheControlTest {

  @Test
  void withoutTheFieldThereIsOneSharedEmptyInstance() {
    assertThat(CacheControl.ofResponse(Fields.of("Date", "x"))).isSameAs(CacheControl.NONE);
    assertThat(CacheControl.ofRequest(Fields.of("Host", "x"))).isSameAs(CacheControl.NONE);
    assertThat(CacheControl.NONE.maxAgeSeconds()).isEqualTo(ABSENT);
    assertThat(CacheControl.NONE.isNoStore()).isFalse();
  }

  @Test
  void directivesAreComparedWithoutCase() {
    var control = CacheControl.parse("No-Store, MAX-AGE=5, pUBLIC");
    assertThat(control.isNoStore()).isTrue();
    assertThat(control.isPublic()).isTrue();
    assertThat(control.maxAgeSeconds()).isEqualTo(5);
  }

  @Test
  void everyResponseDirectiveIsKnown() {
    var control =
        CacheControl.parse(
            "max-age=1, s-maxage=2, stale-while-revalidate=3, stale-if-error=4, no-store, no-cache,"
                + " private, public, must-revalidate, proxy-revalidate, must-understand,"
                + " no-transform, immutable");
    assertThat(control.maxAgeSeconds()).isEqualTo(1);
    assertThat(control.sMaxAgeSeconds()).isEqualTo(2);
    assertThat(control.staleWhileRevalidateSeconds()).isEqualTo(3);
    assertThat(control.staleIfErrorSeconds()).isEqualTo(4);
    assertThat(control.isNoStore()).isTrue();
    assertThat(control.isNoCache()).isTrue();
    assertThat(control.isPrivate()).isTrue();
    assertThat(control.isPublic()).isTrue();
    assertThat(control.isMustRevalidate()).isTrue();
    assertThat(control.isProxyRevalidate()).isTrue();
    assertThat(control.isMustUnderstand()).isTrue();
    assertThat(control.isNoTransform()).isTrue();
    assertThat(control.isImmutable()).isTrue();
  }

  @Test
  void everyRequestDirectiveIsKnown() {
    var control =
        CacheControl.parse("max-stale=1, min-fresh=2, only-if-cached, no-cache, max-age=3");
    assertThat(control.maxStaleSeconds()).isEqualTo(1);
    assertThat(control.minFreshSeconds()).isEqualTo(2);
    assertThat(control.isOnlyIfCached()).isTrue();
    assertThat(control.isNoCache()).isTrue();
    assertThat(control.maxAgeSeconds()).isEqualTo(3);
  }

  @Test
  void severalLinesAreOneList() {
    var control =
        CacheControl.ofResponse(Fields.of("Cache-Control", "max-age=9", "cache-control", "public"));
    assertThat(control.maxAgeSeconds()).isEqualTo(9);
    assertThat(control.isPublic()).isTrue();
  }

  @Test
  void unknownDirectivesAreIgnored() {
    var control = CacheControl.parse("foo, max-age=5, bar=baz, qux=\"max-age=1, no-store\", x");
    assertThat(control.maxAgeSeconds()).isEqualTo(5);
    assertThat(control.isNoStore()).isFalse();
  }

  @Test
  void quotesInsideAQuotedStringAreEscaped() {
    var control = CacheControl.parse("ext=\"a\\\", no-store, \\\\\", max-age=5");
    assertThat(control.isNoStore()).isFalse();
    assertThat(control.maxAgeSeconds()).isEqualTo(5);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "max-age=3600             | 3600",
        "max-age=\"3600\"         | 3600",
        "max-age=003600           | 3600",
        "max-age=0                | 0",
        "' , ,max-age=7,, '       | 7",
        "\tmax-age=7\t            | 7",
        "max-age=2147483647       | 2147483647",
        "max-age=2147483648       | 2147483647",
        "max-age=99999999999999999999999 | 2147483647",
      })
  void aDeltaIsDigitsSaturated(String value, int expected) {
    assertThat(CacheControl.parse(value).maxAgeSeconds()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "max-age",
        "max-age=",
        "max-age=\"\"",
        "max-age=-1",
        "max-age=a100",
        "max-age=100a",
        "max-age=3600.0",
        "max-age=1e3",
        "max-age='3600'",
        "max-age =3600",
        "max-age= 3600",
        "max-age=3600 5",
        "max-age=3600; public",
        "max-age=\"36 00\"",
        "max-age=+5",
        "x max-age=5"
      })
  void aLifetimeThatMakesNoSenseIsOver(String value) {
    assertThat(CacheControl.parse(value).maxAgeSeconds()).isZero();
    assertThat(CacheControl.parse(value.replace("max-age", "s-maxage")).sMaxAgeSeconds()).isZero();
  }

  @Test
  void aLifetimeSaidTwiceCountsOnlyIfBothAgree() {
    assertThat(CacheControl.parse("max-age=60, max-age=60").maxAgeSeconds()).isEqualTo(60);
    assertThat(CacheControl.parse("max-age=60, max-age=6").maxAgeSeconds()).isZero();
    assertThat(CacheControl.parse("max-age=6, max-age=60, max-age=60").maxAgeSeconds()).isZero();
    assertThat(CacheControl.parse("max-age=60, max-age=x").maxAgeSeconds()).isZero();
  }

  @Test
  void anExtensionOfUseThatMakesNoSenseExtendsNothing() {
    assertThat(CacheControl.parse("stale-while-revalidate=x").staleWhileRevalidateSeconds())
        .isZero();
    assertThat(CacheControl.parse("stale-if-error").staleIfErrorSeconds()).isZero();
    assertThat(CacheControl.parse("stale-if-error=9, stale-if-error=5").staleIfErrorSeconds())
        .isEqualTo(5);
    assertThat(CacheControl.parse("max-stale=x").maxStaleSeconds()).isZero();
  }

  @Test
  void maxStaleWithoutAnArgumentAcceptsAnyAge() {
    assertThat(CacheControl.parse("max-stale").maxStaleSeconds()).isEqualTo(Integer.MAX_VALUE);
    assertThat(CacheControl.parse("max-stale, max-stale=5").maxStaleSeconds()).isEqualTo(5);
  }

  @Test
  void minFreshThatMakesNoSenseAsksForTheOrigin() {
    assertThat(CacheControl.parse("min-fresh").minFreshSeconds()).isEqualTo(Integer.MAX_VALUE);
    assertThat(CacheControl.parse("min-fresh=5, min-fresh=9").minFreshSeconds()).isEqualTo(9);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "private; max-age=60",
        "max-age=60; private",
        "public private",
        "private=",
        "private=x",
        "private=\"\"",
        "private=\"a b\"",
        "private=\"x\" y",
        "public=private, private"
      })
  void whatForbidsCountsEvenWhenMalformed(String value) {
    assertThat(CacheControl.parse(value).isPrivate()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"public; max-age=60", "x public", "public=1", "\"public\"", "x=\"public\""})
  void whatPermitsCountsOnlyWhenWellFormed(String value) {
    assertThat(CacheControl.parse(value).isPublic()).isFalse();
  }

  @Test
  void noStoreCountsWithAnArgument() {
    assertThat(CacheControl.parse("no-store=\"x\"").isNoStore()).isTrue();
  }

  @Test
  void aQuotedStringWithoutAnEndMightHideNoStore() {
    var control = CacheControl.parse("max-age=60, ext=\"oops, no-store");
    assertThat(control.isNoStore()).isTrue();
    assertThat(control.isNoCache()).isTrue();
  }

  @Test
  void qualifiedNoCacheAndPrivateNameFields() {
    var control =
        CacheControl.parse("no-cache=\"Set-Cookie, X-A\", private=\"x-b\", no-cache=\"x-c\"");
    assertThat(control.isNoCache()).isFalse();
    assertThat(control.noCacheFields()).containsExactly("set-cookie", "x-a", "x-c");
    assertThat(control.isPrivate()).isFalse();
    assertThat(control.privateFields()).containsExactly("x-b");
  }

  @Test
  void anUnqualifiedNoCacheWinsOverAQualifiedOne() {
    assertThat(CacheControl.parse("no-cache=\"x\", no-cache").isNoCache()).isTrue();
  }

  @Test
  void pragmaNoCacheCountsInARequestWithoutCacheControl() {
    assertThat(CacheControl.ofRequest(Fields.of("Pragma", "x, No-Cache")).isNoCache()).isTrue();
    assertThat(CacheControl.ofRequest(Fields.of("Pragma", "x")).isNoCache()).isFalse();
    assertThat(
            CacheControl.ofRequest(Fields.of("Pragma", "no-cache", "Cache-Control", "max-age=9"))
                .isNoCache())
        .isFalse();
  }

  @Test
  void pragmaMeansNothingInAResponse() {
    assertThat(CacheControl.ofResponse(Fields.of("Pragma", "no-cache")))
        .isSameAs(CacheControl.NONE);
  }
}
