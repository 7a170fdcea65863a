package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.Freshness.Source;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code CDN-Cache-Control} (RFC 9213). */
class TargetedCacheControlTest {

  private static final long NOW = 1_800_000_000;

  private static CacheControl of(String... namesAndValues) {
    return CacheControl.ofResponse(Fields.of(namesAndValues));
  }

  private static Freshness freshness(String... namesAndValues) {
    ResponseHead head = ResponseHead.of(200, namesAndValues);
    return Freshness.of(head, of(namesAndValues), CachePolicy.DEFAULT, NOW);
  }

  @Test
  void section2_2ATargetedFieldPutsCacheControlAndExpiresOutOfForce() {
    String later = HttpDate.format(NOW + 5000);
    assertThat(freshness("CDN-Cache-Control", "max-age=60", "Cache-Control", "no-store, max-age=5"))
        .isEqualTo(new Freshness(60, Source.MAX_AGE));
    assertThat(
            of("CDN-Cache-Control", "max-age=60", "Cache-Control", "no-store")
                .has(Directive.NO_STORE))
        .isFalse();
    assertThat(freshness("CDN-Cache-Control", "none", "Expires", later).lifetimeSeconds()).isZero();
    assertThat(freshness("CDN-Cache-Control", "max-age=0", "Expires", later).lifetimeSeconds())
        .isZero();
  }

  @Test
  void section2_2EveryDirectiveHasItsMeaning() {
    CacheControl control =
        of(
            "CDN-Cache-Control",
            "max-age=1, s-maxage=2, stale-while-revalidate=3, stale-if-error=4, no-store, public,"
                + " must-revalidate, proxy-revalidate, must-understand, no-transform, immutable",
            "CDN-Cache-Control",
            "no-cache, private, unknown=\"x\"");
    assertThat(control.isTargeted()).isTrue();
    assertThat(control.seconds(Directive.MAX_AGE)).isEqualTo(1);
    assertThat(control.seconds(Directive.S_MAXAGE)).isEqualTo(2);
    assertThat(control.seconds(Directive.STALE_WHILE_REVALIDATE)).isEqualTo(3);
    assertThat(control.seconds(Directive.STALE_IF_ERROR)).isEqualTo(4);
    assertThat(control.has(Directive.NO_STORE)).isTrue();
    assertThat(control.has(Directive.PUBLIC)).isTrue();
    assertThat(control.has(Directive.MUST_REVALIDATE)).isTrue();
    assertThat(control.has(Directive.PROXY_REVALIDATE)).isTrue();
    assertThat(control.has(Directive.MUST_UNDERSTAND)).isTrue();
    assertThat(control.has(Directive.NO_TRANSFORM)).isTrue();
    assertThat(control.has(Directive.IMMUTABLE)).isTrue();
    assertThat(control.has(Directive.NO_CACHE)).isTrue();
    assertThat(control.has(Directive.PRIVATE)).isTrue();
  }

  @Test
  void section2_1AStringListsFields() {
    CacheControl control = of("CDN-Cache-Control", "no-cache=\"A, b\", private=\"C\"");
    assertThat(control.has(Directive.NO_CACHE)).isFalse();
    assertThat(control.has(Directive.PRIVATE)).isFalse();
    assertThat(control.fields(Directive.NO_CACHE)).containsExactly("a", "b");
    assertThat(control.fields(Directive.PRIVATE)).containsExactly("c");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "max-age=60, &&&&&",
        "MaX-aGe=60",
        "max-age =60",
        "max-age= 60",
        "max-age=60,",
        "max-age='60'",
      })
  void section2_1WhatIsEmptyOrNoDictionaryIsIgnored(String value) {
    CacheControl control = of("CDN-Cache-Control", value, "Cache-Control", "no-store");
    assertThat(control.isTargeted()).isFalse();
    assertThat(control.has(Directive.NO_STORE)).isTrue();
    assertThat(control.seconds(Directive.MAX_AGE)).isEqualTo(CacheControl.ABSENT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"60\"", "60.0", "-1", "sixty", "?1", "(60)", "@60"})
  void section2_1AValueOfAnotherTypeIsNoLifetime(String value) {
    assertThat(freshness("CDN-Cache-Control", "max-age=" + value).lifetimeSeconds()).isZero();
    assertThat(of("CDN-Cache-Control", "stale-if-error=" + value).seconds(Directive.STALE_IF_ERROR))
        .isZero();
  }

  @Test
  void section2_1ForbiddingHoldsWithAnyValueAndPermittingWithNone() {
    assertThat(of("CDN-Cache-Control", "no-store=1").has(Directive.NO_STORE)).isTrue();
    assertThat(of("CDN-Cache-Control", "private=token").has(Directive.PRIVATE)).isTrue();
    assertThat(of("CDN-Cache-Control", "no-cache=\"=\"").has(Directive.NO_CACHE)).isTrue();
    assertThat(of("CDN-Cache-Control", "public=1").has(Directive.PUBLIC)).isFalse();
    assertThat(of("CDN-Cache-Control", "no-store=?0, max-age=9").has(Directive.NO_STORE)).isFalse();
  }

  @Test
  void section2_1ParametersMeanNothingAndLongNumbersSaturate() {
    assertThat(of("CDN-Cache-Control", "max-age=60;x=\"y\"").seconds(Directive.MAX_AGE))
        .isEqualTo(60);
    assertThat(of("CDN-Cache-Control", "max-age=99999999999").seconds(Directive.MAX_AGE))
        .isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void requestsHaveNoTargetedField() {
    Fields request = Fields.of("CDN-Cache-Control", "no-cache");
    assertThat(CacheControl.ofRequest(request)).isSameAs(CacheControl.NONE);
  }
}
