package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OriginUrlTest {

  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1:9000, false, 127.0.0.1, 9000, 127.0.0.1:9000",
    "http://127.0.0.1:9000/, false, 127.0.0.1, 9000, 127.0.0.1:9000",
    "HTTP://Example.org, false, example.org, 80, example.org",
    "http://example.org:80, false, example.org, 80, example.org",
    "http://example.org:443, false, example.org, 443, example.org:443",
    "https://Example.org, true, example.org, 443, example.org",
    "https://example.org:80, true, example.org, 80, example.org:80",
    "https://[::1]:443/, true, ::1, 443, [::1]",
    "http://[::1], false, ::1, 80, [::1]",
    "http://[::1]:81, false, ::1, 81, [::1]:81",
    "http://app.test.:80, false, app.test., 80, app.test.",
    "https://App.test., true, app.test., 443, app.test.",
    "http://app.:8080/, false, app., 8080, app.:8080"
  })
  void theDefaultPortIsThatOfTheScheme(
      String text, boolean isSecure, String host, int port, String authority) {
    var url = new OriginUrl(isSecure, host, port);
    assertThat(OriginUrl.parse(text)).isEqualTo(url);
    assertThat(url.authority()).isEqualTo(authority);
    assertThat(OriginUrl.parse(url.toString())).isEqualTo(url);
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
        "http:/a",
        "https://",
        "https://a/path",
        "https//a",
        "http://.",
        "http://a..",
        "http://127.0.0.1.",
        "http://[::1].:80"
      })
  void everythingElseIsRefused(String text) {
    assertThat(OriginUrl.parse(text)).isNull();
  }
}
