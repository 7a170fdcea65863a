package io.kamille.core.setting;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An address as settings write it: {@code 127.0.0.1:8080}, {@code [::1]:8080}, {@code
 * localhost:8080}, or {@code :8080} for all interfaces.
 *
 * @param host a name or an IP literal, in lower case, an IPv6 literal as RFC 5952 writes it and
 *     without brackets; empty for all interfaces
 * @param port 0–65535; 0 takes a free port
 */
public record HostPort(String host, int port) {

  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");
  private static final Pattern IPV4 =
      Pattern.compile("((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\\.(?!$)|$)){4}");
  private static final Pattern IPV6 = Pattern.compile("[0-9a-f:.]{2,45}");
  private static final Pattern NAME =
      Pattern.compile(
          "(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
              + "(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*");

  public HostPort {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port + " (expected: 0–65535)");
    }
    host = canonical(host);
  }

  /** The address that {@code text} stands for, or null. The port must be written. */
  public static @Nullable HostPort parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 0 || !PORT.matcher(text.substring(colon + 1)).matches()) {
      return null;
    }
    int port = Integer.parseInt(text.substring(colon + 1));
    String host = hostOf(text.substring(0, colon));
    return host == null || port > 65_535 ? null : new HostPort(host, port);
  }

  /**
   * The host that {@code text} writes, as this record keeps it, or null if it is none. Empty stays
   * empty; an IPv6 literal must stand in brackets.
   */
  public static @Nullable String hostOf(String text) {
    boolean isBracketed = text.startsWith("[") && text.endsWith("]");
    String host = isBracketed ? text.substring(1, text.length() - 1) : text;
    String lower = host.toLowerCase(Locale.ROOT);
    return host.indexOf(':') >= 0 == isBracketed && isHost(lower) ? canonical(lower) : null;
  }

  /** Whether it is a host with or without port, as a Host field has it. */
  static boolean isAuthority(String text) {
    HostPort withPort = parse(text);
    return withPort != null ? !withPort.host().isEmpty() : !text.isEmpty() && hostOf(text) != null;
  }

  private static boolean isHost(String host) {
    if (host.indexOf(':') >= 0) {
      return IPV6.matcher(host).matches() && NetUtil.isValidIpV6Address(host);
    }
    boolean looksLikeIpv4 = host.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
    return host.isEmpty() || (looksLikeIpv4 ? IPV4 : NAME).matcher(host).matches();
  }

  private static String canonical(String host) {
    if (!isHost(host)) {
      throw new IllegalArgumentException("host: " + host + " (expected: a name or an IP literal)");
    }
    return host.indexOf(':') >= 0 ? NetUtil.toAddressString(InetAddress.ofLiteral(host)) : host;
  }

  /** An address with its port, as people and requests write it (RFC 5952 §4, §6). */
  public static String text(InetSocketAddress address) {
    return new HostPort(NetUtil.toAddressString(address.getAddress()), address.getPort())
        .toString();
  }

  /** Whether this stands for every interface of the machine. */
  public boolean isWildcard() {
    return host.isEmpty() || host.equals("0.0.0.0") || host.equals("::");
  }

  /** Whether only this machine can reach it: a loopback literal or {@code localhost}. */
  public boolean isLoopback() {
    return host.equals("localhost")
        || host.equals("::1")
        || (host.startsWith("127.") && IPV4.matcher(host).matches());
  }

  /**
   * The address to bind or connect to. Blocks while a name is looked up; it may stay unresolved.
   */
  public InetSocketAddress socketAddress() {
    return host.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
  }

  /** The form {@link #parse} reads back. */
  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
