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
    assertThat(of("CDN-Cache-Control", "max-age=60", "Cache-Control", "no-store").isNoStore())
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
    assertThat(control.maxAgeSeconds()).isEqualTo(1);
    assertThat(control.sMaxAgeSeconds()).isEqualTo(2);
    assertThat(control.staleWhileRevalidateSeconds()).isEqualTo(3);
    assertThat(control.staleIfErrorSeconds()).isEqualTo(4);
    assertThat(control.isNoStore()).isTrue();
    assertThat(control.isPublic()).isTrue();
    assertThat(control.isMustRevalidate()).isTrue();
    assertThat(control.isProxyRevalidate()).isTrue();
    assertThat(control.isMustUnderstand()).isTrue();
    assertThat(control.isNoTransform()).isTrue();
    assertThat(control.isImmutable()).isTrue();
    assertThat(control.isNoCache()).isTrue();
    assertThat(control.isPrivate()).isTrue();
  }

  @Test
  void section2_1AStringListsFields() {
    CacheControl control = of("CDN-Cache-Control", "no-cache=\"A, b\", private=\"C\"");
    assertThat(control.isNoCache()).isFalse();
    assertThat(control.isPrivate()).isFalse();
    assertThat(control.noCacheFields()).containsExactly("a", "b");
    assertThat(control.privateFields()).containsExactly("c");
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
    assertThat(control.isNoStore()).isTrue();
    assertThat(control.maxAgeSeconds()).isEqualTo(CacheControl.ABSENT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"60\"", "60.0", "-1", "sixty", "?1", "(60)", "@60"})
  void section2_1AValueOfAnotherTypeIsNoLifetime(String value) {
    assertThat(freshness("CDN-Cache-Control", "max-age=" + value).lifetimeSeconds()).isZero();
    assertThat(of("CDN-Cache-Control", "stale-if-error=" + value).staleIfErrorSeconds()).isZero();
  }

  @Test
  void section2_1ForbiddingHoldsWithAnyValueAndPermittingWithNone() {
    assertThat(of("CDN-Cache-Control", "no-store=1").isNoStore()).isTrue();
    assertThat(of("CDN-Cache-Control", "private=token").isPrivate()).isTrue();
    assertThat(of("CDN-Cache-Control", "no-cache=\"=\"").isNoCache()).isTrue();
    assertThat(of("CDN-Cache-Control", "public=1").isPublic()).isFalse();
    assertThat(of("CDN-Cache-Control", "no-store=?0, max-age=9").isNoStore()).isFalse();
  }

  @Test
  void section2_1ParametersMeanNothingAndLongNumbersSaturate() {
    assertThat(of("CDN-Cache-Control", "max-age=60;x=\"y\"").maxAgeSeconds()).isEqualTo(60);
    assertThat(of("CDN-Cache-Control", "max-age=99999999999").maxAgeSeconds())
        .isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void requestsHaveNoTargetedField() {
    Fields request = Fields.of("CDN-Cache-Control", "no-cache");
    assertThat(CacheControl.ofRequest(request)).isSameAs(CacheControl.NONE);
  }
}
