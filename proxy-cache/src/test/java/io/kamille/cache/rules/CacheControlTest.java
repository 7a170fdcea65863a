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
    assertThat(CacheControl.NONE.seconds(Directive.MAX_AGE)).isEqualTo(ABSENT);
    assertThat(CacheControl.NONE.has(Directive.NO_STORE)).isFalse();
  }

  @Test
  void directivesAreComparedWithoutCase() {
    var control = CacheControl.parse("No-Store, MAX-AGE=5, pUBLIC");
    assertThat(control.has(Directive.NO_STORE)).isTrue();
    assertThat(control.has(Directive.PUBLIC)).isTrue();
    assertThat(control.seconds(Directive.MAX_AGE)).isEqualTo(5);
  }

  @Test
  void everyResponseDirectiveIsKnown() {
    var control =
        CacheControl.parse(
            "max-age=1, s-maxage=2, stale-while-revalidate=3, stale-if-error=4, no-store, no-cache,"
                + " private, public, must-revalidate, proxy-revalidate, must-understand,"
                + " no-transform, immutable");
    assertThat(control.seconds(Directive.MAX_AGE)).isEqualTo(1);
    assertThat(control.seconds(Directive.S_MAXAGE)).isEqualTo(2);
    assertThat(control.seconds(Directive.STALE_WHILE_REVALIDATE)).isEqualTo(3);
    assertThat(control.seconds(Directive.STALE_IF_ERROR)).isEqualTo(4);
    assertThat(control.has(Directive.NO_STORE)).isTrue();
    assertThat(control.has(Directive.NO_CACHE)).isTrue();
    assertThat(control.has(Directive.PRIVATE)).isTrue();
    assertThat(control.has(Directive.PUBLIC)).isTrue();
    assertThat(control.has(Directive.MUST_REVALIDATE)).isTrue();
    assertThat(control.has(Directive.PROXY_REVALIDATE)).isTrue();
    assertThat(control.has(Directive.MUST_UNDERSTAND)).isTrue();
    assertThat(control.has(Directive.NO_TRANSFORM)).isTrue();
    assertThat(control.has(Directive.IMMUTABLE)).isTrue();
  }

  @Test
  void everyRequestDirectiveIsKnown() {
    var control =
        CacheControl.parse("max-stale=1, min-fresh=2, only-if-cached, no-cache, max-age=3");
    assertThat(control.seconds(Directive.MAX_STALE)).isEqualTo(1);
    assertThat(control.seconds(Directive.MIN_FRESH)).isEqualTo(2);
    assertThat(control.has(Directive.ONLY_IF_CACHED)).isTrue();
    assertThat(control.has(Directive.NO_CACHE)).isTrue();
    assertThat(control.seconds(Directive.MAX_AGE)).isEqualTo(3);
  }

  @Test
  void severalLinesAreOneList() {
    var control =
        CacheControl.ofResponse(Fields.of("Cache-Control", "max-age=9", "cache-control", "public"));
    assertThat(control.seconds(Directive.MAX_AGE)).isEqualTo(9);
    assertThat(control.has(Directive.PUBLIC)).isTrue();
  }

  @Test
  void unknownDirectivesAreIgnored() {
    var control = CacheControl.parse("foo, max-age=5, bar=baz, qux=\"max-age=1, no-store\", x");
    assertThat(control.seconds(Directive.MAX_AGE)).isEqualTo(5);
    assertThat(control.has(Directive.NO_STORE)).isFalse();
  }

  @Test
  void quotesInsideAQuotedStringAreEscaped() {
    var control = CacheControl.parse("ext=\"a\\\", no-store, \\\\\", max-age=5");
    assertThat(control.has(Directive.NO_STORE)).isFalse();
    assertThat(control.seconds(Directive.MAX_AGE)).isEqualTo(5);
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
    assertThat(CacheControl.parse(value).seconds(Directive.MAX_AGE)).isEqualTo(expected);
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
    assertThat(CacheControl.parse(value).seconds(Directive.MAX_AGE)).isZero();
    assertThat(CacheControl.parse(value.replace("max-age", "s-maxage")).seconds(Directive.S_MAXAGE))
        .isZero();
  }

  @Test
  void aLifetimeSaidTwiceCountsOnlyIfBothAgree() {
    assertThat(CacheControl.parse("max-age=60, max-age=60").seconds(Directive.MAX_AGE))
        .isEqualTo(60);
    assertThat(CacheControl.parse("max-age=60, max-age=6").seconds(Directive.MAX_AGE)).isZero();
    assertThat(CacheControl.parse("max-age=6, max-age=60, max-age=60").seconds(Directive.MAX_AGE))
        .isZero();
    assertThat(CacheControl.parse("max-age=60, max-age=x").seconds(Directive.MAX_AGE)).isZero();
  }

  @Test
  void anExtensionOfUseThatMakesNoSenseExtendsNothing() {
    assertThat(
            CacheControl.parse("stale-while-revalidate=x")
                .seconds(Directive.STALE_WHILE_REVALIDATE))
        .isZero();
    assertThat(CacheControl.parse("stale-if-error").seconds(Directive.STALE_IF_ERROR)).isZero();
    assertThat(
            CacheControl.parse("stale-if-error=9, stale-if-error=5")
                .seconds(Directive.STALE_IF_ERROR))
        .isEqualTo(5);
    assertThat(CacheControl.parse("max-stale=x").seconds(Directive.MAX_STALE)).isZero();
  }

  @Test
  void maxStaleWithoutAnArgumentAcceptsAnyAge() {
    assertThat(CacheControl.parse("max-stale").seconds(Directive.MAX_STALE))
        .isEqualTo(Integer.MAX_VALUE);
    assertThat(CacheControl.parse("max-stale, max-stale=5").seconds(Directive.MAX_STALE))
        .isEqualTo(5);
  }

  @Test
  void minFreshThatMakesNoSenseAsksForTheOrigin() {
    assertThat(CacheControl.parse("min-fresh").seconds(Directive.MIN_FRESH))
        .isEqualTo(Integer.MAX_VALUE);
    assertThat(CacheControl.parse("min-fresh=5, min-fresh=9").seconds(Directive.MIN_FRESH))
        .isEqualTo(9);
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
    assertThat(CacheControl.parse(value).has(Directive.PRIVATE)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"public; max-age=60", "x public", "public=1", "\"public\"", "x=\"public\""})
  void whatPermitsCountsOnlyWhenWellFormed(String value) {
    assertThat(CacheControl.parse(value).has(Directive.PUBLIC)).isFalse();
  }

  @Test
  void noStoreCountsWithAnArgument() {
    assertThat(CacheControl.parse("no-store=\"x\"").has(Directive.NO_STORE)).isTrue();
  }

  @Test
  void aQuotedStringWithoutAnEndMightHideNoStore() {
    var control = CacheControl.parse("max-age=60, ext=\"oops, no-store");
    assertThat(control.has(Directive.NO_STORE)).isTrue();
    assertThat(control.has(Directive.NO_CACHE)).isTrue();
  }

  @Test
  void qualifiedNoCacheAndPrivateNameFields() {
    var control =
        CacheControl.parse("no-cache=\"Set-Cookie, X-A\", private=\"x-b\", no-cache=\"x-c\"");
    assertThat(control.has(Directive.NO_CACHE)).isFalse();
    assertThat(control.fields(Directive.NO_CACHE)).containsExactly("set-cookie", "x-a", "x-c");
    assertThat(control.has(Directive.PRIVATE)).isFalse();
    assertThat(control.fields(Directive.PRIVATE)).containsExactly("x-b");
  }

  @Test
  void anUnqualifiedNoCacheWinsOverAQualifiedOne() {
    assertThat(CacheControl.parse("no-cache=\"x\", no-cache").has(Directive.NO_CACHE)).isTrue();
  }

  @Test
  void pragmaNoCacheCountsInARequestWithoutCacheControl() {
    assertThat(CacheControl.ofRequest(Fields.of("Pragma", "x, No-Cache")).has(Directive.NO_CACHE))
        .isTrue();
    assertThat(CacheControl.ofRequest(Fields.of("Pragma", "x")).has(Directive.NO_CACHE)).isFalse();
    assertThat(
            CacheControl.ofRequest(Fields.of("Pragma", "no-cache", "Cache-Control", "max-age=9"))
                .has(Directive.NO_CACHE))
        .isFalse();
  }

  @Test
  void pragmaMeansNothingInAResponse() {
    assertThat(CacheControl.ofResponse(Fields.of("Pragma", "no-cache")))
        .isSameAs(CacheControl.NONE);
  }
}
