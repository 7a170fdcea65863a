package io.kamille.core.origin;

import io.kamille.core.setting.OriginUrl;
import java.util.List;
import java.util.Map;

/** Which version of HTTP origins are asked in. */
public enum OriginProtocol {
  /** Over TLS what ALPN settles, HTTP/2 first; in clear text HTTP/1.1. */
  AUTO,
  /** HTTP/2 over TLS. */
  H2,
  HTTP_1_1,
  /** HTTP/2 in clear text, by prior knowledge (RFC 9113 §3.3). */
  H2C;

  /** Each as the configuration writes it. */
  static final List<Map.Entry<String, OriginProtocol>> WORDS =
      List.of(
          Map.entry("auto", AUTO),
          Map.entry("h2", H2),
          Map.entry("http/1.1", HTTP_1_1),
          Map.entry("h2c", H2C));

  public static final String H2_NAME = "h2";
  private static final String HTTP_1_1_NAME = "http/1.1";

  /** What is offered in a TLS handshake, the preferred first, in the words of ALPN (RFC 7301). */
  public List<String> offered() {
    return switch (this) {
      case AUTO -> List.of(H2_NAME, HTTP_1_1_NAME);
      case H2 -> List.of(H2_NAME);
      case HTTP_1_1, H2C -> List.of(HTTP_1_1_NAME);
    };
  }

  /** Whether an origin at such a URL can be asked so. */
  public boolean suits(OriginUrl url) {
    return switch (this) {
      case H2 -> url.isSecure();
      case H2C -> !url.isSecure();
      case AUTO, HTTP_1_1 -> true;
    };
  }

  /** What an origin must be that does not suit. */
  public String expected() {
    return this == H2
        ? "https:// beside protocol h2; HTTP/2 in clear text is h2c"
        : "http:// beside protocol h2c; HTTP/2 over TLS is h2";
  }

  /** Whether a connection may come to speak HTTP/2. */
  public boolean mayBeH2(boolean isSecure) {
    return isSecure ? this == AUTO || this == H2 : this == H2C;
  }
}
