package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §4.4: invalidating stored responses. */
class InvalidationTest {

  private static final String URI = "http://example.org/a/b?c";

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "M-SEARCH"})
  void anUnsafeMethodInvalidatesItsTarget(String method) {
    assertThat(invalidated(RequestHead.of(method, URI), ResponseHead.of(200)))
        .containsExactly(key(URI));
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD", "OPTIONS", "TRACE"})
  void aSafeMethodInvalidatesNothing(String method) {
    assertThat(invalidated(RequestHead.of(method, URI), ResponseHead.of(200))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"200, 1", "204, 1", "303, 1", "399, 1", "400, 0", "404, 0", "500, 0", "103, 0"})
  void onlyANonErrorResponseInvalidates(int status, int expected) {
    assertThat(invalidated(RequestHead.of("POST", URI), ResponseHead.of(status))).hasSize(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http://example.org/x        | http://example.org/x",
        "HTTP://EXAMPLE.ORG:80/x#y   | http://example.org/x",
        "//example.org/x             | http://example.org/x",
        "/x?y                        | http://example.org/x?y",
        "x                           | http://example.org/a/x",
        "./x                         | http://example.org/a/x",
        "../x                        | http://example.org/x",
        "../../x/./y/../z            | http://example.org/x/z",
        "..                          | http://example.org/",
        ".                           | http://example.org/a/",
        "?d                          | http://example.org/a/b?d",
        "x?../y                      | http://example.org/a/x?../y",
        "x:/                         | ''",
        "x/y:z                       | http://example.org/a/x/y:z",
      })
  void locationAndContentLocationInvalidateOnTheSameOrigin(String reference, String expected) {
    for (String name : new String[] {"Location", "Content-Location"}) {
      var keys = invalidated(RequestHead.of("POST", URI), ResponseHead.of(201, name, reference));
      if (expected.isEmpty()) {
        assertThat(keys).containsExactly(key(URI));
      } else {
        assertThat(keys).containsExactly(key(URI), key(expected));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://example.com/x",
        "https://example.org/x",
        "http://example.org:8080/x",
        "//example.com/x",
        "http://u@example.org/x",
        "mailto:x@example.org",
        "",
        "http://",
        "a:",
        "http:x",
        "http://example.org\\@evil/"
      })
  void nothingElseIsInvalidated(String reference) {
    assertThat(
            invalidated(RequestHead.of("POST", URI), ResponseHead.of(201, "Location", reference)))
        .containsExactly(key(URI));
  }

  @Test
  void aResponseMayNameBoth() {
    assertThat(
            invalidated(
                RequestHead.of("PUT", URI),
                ResponseHead.of(201, "Location", "/x", "Content-Location", "/y")))
        .containsExactly(key(URI), key("http://example.org/x"), key("http://example.org/y"));
  }

  private static Set<CacheKey> invalidated(RequestHead request, ResponseHead response) {
    return Invalidation.of(request, response, of -> Set.of(CacheKey.of(of)));
  }

  private static CacheKey key(String uri) {
    return CacheKey.of(RequestHead.of("GET", uri));
  }
}
