package io.kamille.core.setting;

import java.util.Locale;

/** The URL of an origin server: {@code http://HOST[:PORT]}. Port 80 when none is written. */
public record OriginUrl(String host, int port) {

  private static final String SCHEME = "http://";
  private static final int DEFAULT_PORT = 80;
  private static final String EXPECTED = "http://HOST[:PORT] with nothing behind it";
  private static final String NO_TLS_YET =
      "http://HOST[:PORT]; https toward origins is not supported yet";

  public OriginUrl {
    if (host.isEmpty() || port == 0) {
      throw new IllegalArgumentException("origin: " + host + ":" + port + " (expected: both)");
    }
  }

  /** The URL that {@code text} stands for, or what was expected instead. */
  public static Parsed<OriginUrl> parse(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.startsWith("https://")) {
      return new Parsed.Refused<>(NO_TLS_YET);
    }
    if (!lower.startsWith(SCHEME)) {
      return new Parsed.Refused<>(EXPECTED);
    }
    String authority = lower.substring(SCHEME.length());
    if (authority.endsWith("/")) {
      authority = authority.substring(0, authority.length() - 1);
    }
    boolean hasPort = authority.lastIndexOf(':') > authority.lastIndexOf(']');
    var address = HostPort.parse(hasPort ? authority : authority + ":" + DEFAULT_PORT);
    return address == null || address.host().isEmpty() || address.port() == 0
        ? new Parsed.Refused<>(EXPECTED)
        : new Parsed.Value<>(new OriginUrl(address.host(), address.port()));
  }

  /** Host and port, to connect to. */
  public HostPort address() {
    return new HostPort(host, port);
  }

  /** The authority of the URL as a Host field carries it (RFC 9110 §4.2.1: no default port). */
  public String authority() {
    String withPort = address().toString();
    return port == DEFAULT_PORT ? withPort.substring(0, withPort.lastIndexOf(':')) : withPort;
  }

  /** The form {@link #parse} reads back. */
  @Override
  public String toString() {
    return SCHEME + authority();
  }
}
