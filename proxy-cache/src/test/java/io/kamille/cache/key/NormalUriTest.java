package io.kamille.cache.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.RequestHead;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NormalUriTest {

  /** RFC 9110 §4.2.3, but for what concerns path and query. */
  @ParameterizedTest
  @CsvSource({
    "HTTP://Example.ORG, http://example.org/",
    "http://example.org:80/a, http://example.org/a",
    "http://example.org:080/a, http://example.org/a",
    "http://example.org:/a, http://example.org/a",
    "https://example.org:443/, https://example.org/",
    "https://example.org:80/, https://example.org:80/",
    "http://example.org:8080, http://example.org:8080/",
    "http://example.org?b, http://example.org/?b",
    "http://[2001:DB8::1]/, http://[2001:db8::1]/",
    "http://example.org/%41/../A?B=%62, http://example.org/%41/../A?B=%62",
    "http://example.org//a, http://example.org//a",
  })
  void schemeAndAuthorityAreInNormalFormAndTheRestStays(String uri, String normal) {
    assertThat(NormalUri.of(uri)).isEqualTo(normal);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "http://",
        "https://",
        "http:/example.org/",
        "http",
        "ftp://example.org/",
        "//example.org/",
        "/a",
        "example.org",
        "http://user@example.org/",
        "http://example.org:x/",
        "http://example.org:65536/",
        "http://[::1/",
        "http://example.org/#a",
        "http://example.org/a b",
        "http://example.org/\u00fc",
        "http://example.org/\u007f",
        "http://exa%mple.org/",
        "https:example.org",
      })
  void whatNoRequestCanHaveAsItsTargetHasNone(String uri) {
    assertThat(NormalUri.of(uri)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "http://Example.org:80/a?b=1, http://example.org/a?b=1, http://example.org/",
    "https://example.org:0443/, https://example.org/, https://example.org/",
    "http://example.org:81/a//b, http://example.org:81/a//b, http://example.org:81/",
  })
  void aRequestHasThatOfItsTarget(String target, String normal, String origin) {
    RequestHead request = RequestHead.of("GET", target);
    assertThat(NormalUri.of(request)).isEqualTo(normal).isEqualTo(NormalUri.of(target));
    assertThat(NormalUri.originOf(request)).isEqualTo(origin);
  }

  @Test
  void noOriginsUrisBeginAsThoseOfAnother() {
    String origin = NormalUri.originOf(RequestHead.of("GET", "http://example.org/a"));
    for (String other :
        new String[] {
          "http://example.org.evil/", "http://example.org:8/", "https://example.org/", "http://e/"
        }) {
      assertThat(NormalUri.of(other)).doesNotStartWith(origin);
    }
  }

  /** What has one normal form has one key, so a purge by prefix and one by URL agree. */
  @ParameterizedTest
  @CsvSource({
    "HTTP://Example.org:80, http://example.org/",
    "https://EXAMPLE.org:443?x, https://example.org/?x",
  })
  void urisOfOneNormalFormHaveOneKey(String one, String other) {
    assertThat(NormalUri.of(one)).isEqualTo(NormalUri.of(other));
    assertThat(CacheKey.find(one)).isEqualTo(CacheKey.find(other)).isNotNull();
  }
}
