package io.kamille.cache.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.TargetForm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9111 §2 and RFC 9110 §4.2.3: which targets share a cache key. */
class CacheKeyTest {

  @ParameterizedTest
  @CsvSource({
    "http://example.org/a,       http://EXAMPLE.org/a",
    "http://example.org/a,       http://example.org:80/a",
    "http://example.org/a,       http://example.org:/a",
    "http://example.org/a,       http://example.org:0080/a",
    "https://example.org/a,      https://example.org:443/a",
    "http://example.org,         http://example.org/",
    "http://[::1]/a,             http://[::1]:80/a",
    "http://[::AB]:8080/a,       http://[::ab]:8080/a"
  })
  void equivalentTargetsShareAKey(String one, String other) {
    assertThat(key(one)).isEqualTo(key(other)).hasSameHashCodeAs(key(other));
  }

  @ParameterizedTest
  @CsvSource({
    "http://example.org/a,       https://example.org/a",
    "http://example.org/a,       http://example.org/A",
    "http://example.org/a,       http://example.com/a",
    "http://example.org/a,       http://example.org:8080/a",
    "http://example.org/a,       http://example.org:443/a",
    "http://example.org/a,       http://example.org:65616/a",
    "http://example.org/a,       http://example.org:4294967376/a",
    "http://example.org/a,       http://example.org/a?",
    "http://example.org/a?b,     http://example.org/a?B",
    "http://example.org/a/,      http://example.org/a",
    "http://example.org/%61,     http://example.org/a",
    "http://[::1]:81/a,          http://[::1:81]/a"
  })
  void differentTargetsHaveDifferentKeys(String one, String other) {
    assertThat(key(one)).isNotEqualTo(key(other));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://example.org/",
        "https://Example.org:8443/a/b?c=d&e",
        "http://[::1]:8080/x",
        "http://example.org:443/",
        "https://example.org:80/"
      })
  void aPurgeByUriFindsTheKeyOfTheRequest(String uri) {
    assertThat(CacheKey.find(uri)).isEqualTo(key(uri));
  }

  @Test
  void aFragmentIsNoPartOfTheTarget() {
    assertThat(CacheKey.find("http://example.org/a?b#c")).isEqualTo(key("http://example.org/a?b"));
    assertThat(CacheKey.find("HTTP://example.org#c")).isEqualTo(key("http://example.org/"));
  }

  @Test
  void anEmptyPathBeforeAQueryIsASlash() {
    assertThat(CacheKey.find("http://example.org?b")).isEqualTo(key("http://example.org/?b"));
  }

  @Test
  void anAbsoluteFormTargetHasTheSameKey() {
    RequestHead head = new RequestHead();
    byte[] line = Fields.octetsOf("GEThttp://Example.org:80?b");
    System.arraycopy(line, 0, head.fields().roomFor(line.length), 0, line.length);
    head.startLine(Method.GET, 0, 3, TargetForm.ABSOLUTE, 3, line.length, 1);
    head.target(24, 24);
    head.authority(10, 24);
    assertThat(CacheKey.of(head)).isEqualTo(key("http://example.org/?b"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/a",
        "example.org/a",
        "ftp://example.org/",
        "http:///a",
        "http://",
        "https://?a",
        "http://u@example.org/",
        "http://example.org:x/",
        "http://example.org:65536/",
        "http://[::1/",
        "http://example.org/caf\u00e9",
        "http://example.org/a b"
      })
  void whatNoRequestCanHaveAsItsTargetHasNoKey(String uri) {
    assertThat(CacheKey.find(uri)).isNull();
  }

  @Test
  void theKeyOfAProbeIsItsOwnUntilCopied() {
    CacheKeyProbe probe = new CacheKeyProbe();
    CacheKey first = probe.keyOf(RequestHead.of("GET", "http://example.org/1"));
    CacheKey kept = first.copy();
    assertThat(kept).isEqualTo(first);
    CacheKey second = probe.keyOf(RequestHead.of("GET", "http://example.org/2"));
    assertThat(second).isSameAs(first).isNotEqualTo(kept);
  }

  private static CacheKey key(String uri) {
    return CacheKey.of(RequestHead.of("GET", uri));
  }
}
