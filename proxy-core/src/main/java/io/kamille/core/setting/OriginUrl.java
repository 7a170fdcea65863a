package io.kamille.core.setting;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The URL of an origin server: {@code http://HOST[:PORT]}, or {@code https://} for TLS. Port 80 or
 * 443 when none is written.
 */
public record OriginUrl(boolean isSecure, String host, int port) {

  private static final String HTTP = "http://";
  private static final String HTTPS = "https://";

  public OriginUrl {
    if (host.isEmpty() || port == 0) {
      throw new IllegalArgumentException("origin: " + host + ":" + port + " (expected: both)");
    }
  }

  /** The URL that {@code text} stands for, or null. */
  public static @Nullable OriginUrl parse(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    boolean isSecure = lower.startsWith(HTTPS);
    if (!isSecure && !lower.startsWith(HTTP)) {
      return null;
    }
    String authority = lower.substring(scheme(isSecure).length());
    if (authority.endsWith("/")) {
      authority = authority.substring(0, authority.length() - 1);
    }
    boolean hasPort = authority.lastIndexOf(':') > authority.lastIndexOf(']');
    var address = HostPort.parse(hasPort ? authority : authority + ":" + defaultPort(isSecure));
    return address == null || address.host().isEmpty() || address.port() == 0
        ? null
        : new OriginUrl(isSecure, address.host(), address.port());
  }

  private static String scheme(boolean isSecure) {
    return isSecure ? HTTPS : HTTP;
  }

  private static int defaultPort(boolean isSecure) {
    return isSecure ? 443 : 80;
  }

  /** Host and port, to connect to. */
  public HostPort address() {
    return new HostPort(host, port);
  }

  /** The authority of the URL as a Host field carries it (RFC 9110 §4.2.1: no default port). */
  public String authority() {
    String withPort = address().toString();
    return port == defaultPort(isSecure)
        ? withPort.substring(0, withPort.lastIndexOf(':'))
        : withPort;
  }

  /** The form {@link #parse} reads back. */
  @Override
  public String toString() {
    return scheme(isSecure) + authority();
  }
}
