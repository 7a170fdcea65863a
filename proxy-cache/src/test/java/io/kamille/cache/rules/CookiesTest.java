package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.NamePatterns;
import io.kamille.core.http.Fields;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CookiesTest {

  private static final NamePatterns NAMES = NamePatterns.of(List.of("session", "wp_*"));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "session=1",
        "a=b; session=1",
        "a=b;session=1",
        "a=b; session",
        "session=",
        "session =1",
        "a=b,session=1",
        "a=b; wp_x=1",
        "wp_=1",
        ";; session=1",
        "Session=1",
        "a=b;\u00a0session=1",
        "a=b;\u000bsession=1",
        "wp.x=1",
        "wp[x]=1",
        "wp x=1",
        "a=b session=1",
        "a=b\tsession=1",
        "session[x]=1",
        "%73ession=1",
        "%20session=1",
        "+session=1",
        "a=b; +%20+%5fsession; %0a+SESSIO%4e%20=1",
        "a=b; %77p%2ex=1"
      })
  void aListedCookieIsFound(String cookie) {
    assertThat(Cookies.has(Fields.of("Cookie", cookie), NAMES)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a=session",
        "a=b=session",
        "sessions=1",
        "xsession=1",
        "wp=1",
        ";",
        "a+session=1",
        "a=%20session",
        "%2"
      })
  void otherCookiesAreNot(String cookie) {
    assertThat(Cookies.has(Fields.of("Cookie", cookie), NAMES)).isFalse();
  }

  @Test
  void everyLineIsLookedAt() {
    assertThat(Cookies.has(Fields.of("Cookie", "a=b", "Cookie", "session=1"), NAMES)).isTrue();
    assertThat(Cookies.has(Fields.of("X", "session=1"), NAMES)).isFalse();
  }
}
