package io.kamille.core.setting;

import io.netty.util.NetUtil;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The URL of an origin server: {@code http://HOST[:PORT]}, or {@code https://} for TLS. Port 80 or
 * 443 when none is written.
 *
 * @param host a name or an IP literal; a name that ends with a dot is looked up as it is, without
 *     search domains (RFC 3986 §3.2.2)
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
    String withPort = hasPort ? authority : authority + ":" + defaultPort(isSecure);
    String relative = withPort.replaceFirst("(?<![.\\]])\\.(?=:[0-9]*$)", "");
    String dot = relative.equals(withPort) ? "" : ".";
    var address = HostPort.parse(relative);
    return address == null
            || address.host().isEmpty()
            || address.port() == 0
            || (!dot.isEmpty() && NetUtil.isValidIpV4Address(address.host()))
        ? null
        : new OriginUrl(isSecure, address.host() + dot, address.port());
  }

  /** That name without the dot at its end, as certificates and SNI have it (RFC 6066 §3). */
  public static String withoutDot(String host) {
    return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
  }

  private static String scheme(boolean isSecure) {
    return isSecure ? HTTPS : HTTP;
  }

  private static int defaultPort(boolean isSecure) {
    return isSecure ? 443 : 80;
  }

  /** Host and port, to connect to, without a dot at the end of the name. */
  public HostPort address() {
    return new HostPort(withoutDot(host), port);
  }

  /** Host and port as the URL has them. */
  public String name() {
    return host.endsWith(".") ? host + ":" + port : address().toString();
  }

  /** The authority of the URL as a Host field carries it (RFC 9110 §4.2.1: no default port). */
  public String authority() {
    String withPort = name();
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
