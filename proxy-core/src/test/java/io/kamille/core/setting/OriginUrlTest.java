package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OriginUrlTest {

  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1:9000, 127.0.0.1, 9000, 127.0.0.1:9000",
    "http://127.0.0.1:9000/, 127.0.0.1, 9000, 127.0.0.1:9000",
    "HTTP://Example.org, example.org, 80, example.org",
    "http://example.org:80, example.org, 80, example.org",
    "http://[::1], ::1, 80, [::1]",
    "http://[::1]:81, ::1, 81, [::1]:81"
  })
  void theDefaultPortIs80(String text, String host, int port, String authority) {
    var url = new OriginUrl(host, port);
    assertThat(OriginUrl.parse(text)).isEqualTo(new Parsed.Value<>(url));
    assertThat(url.authority()).isEqualTo(authority);
    assertThat(OriginUrl.parse(url.toString())).isEqualTo(new Parsed.Value<>(url));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "http://",
        "http:///",
        "127.0.0.1:9000",
        "ftp://a",
        "http://a:0",
        "http://a:b",
        "http://a/path",
        "http://a?q",
        "http://a#f",
        "http://user@a",
        "http://a:80:80",
        "http://:80",
        "http://[::1",
        "http://a//",
        "http:/a"
      })
  void everythingElseIsRefused(String text) {
    assertThat(OriginUrl.parse(text)).isInstanceOf(Parsed.Refused.class);
  }

  @Test
  void httpsIsSaidToBeUnsupported() {
    assertThat(OriginUrl.parse("https://example.org"))
        .isEqualTo(
            new Parsed.Refused<>("http://HOST[:PORT]; https toward origins is not supported yet"));
  }
}
