package io.kamille.core.http;

import java.util.Arrays;

/**
 * The syntax of {@code uri-host [":" port]} (RFC 9110 §4.2, RFC 3986 §3.2) on octets. Stateless;
 * any thread.
 *
 * <p>Its normal form (RFC 9110 §4.2.3) is in lower case, the port without leading zeros, and none
 * where it is empty or the default of the scheme. Cache keys are made of it, and origins are told
 * it: an origin that could see a spelling its clients' shared key does not tell apart could be made
 * to poison the cache.
 */
public final class Authority {

  /*
   * RFC 3986 §3.2.2 allows a comma in a registered name; Kamille does not, as HAProxy since 2026.
   * In a Host field, a comma is what an intermediary makes of two lines (RFC 9110 §5.3), and an
   * origin may take the host from either side of it. No name in use has one.
   */
  private static final boolean[] REG_NAME = new boolean[128];

  static {
    String allowed =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+;=%";
    for (int i = 0; i < allowed.length(); i++) {
      REG_NAME[allowed.charAt(i)] = true;
    }
  }

  private Authority() {}

  /** Whether the octets are a host that is not empty, with an optional port. No userinfo. */
  public static boolean isValid(byte[] octets, int start, int end) {
    int hostEnd = hostEnd(octets, start, end);
    if (hostEnd <= start) {
      return false;
    }
    return hostEnd == end || isPort(octets, hostEnd + 1, end);
  }

  /** The host of an authority, without its port if it names one. */
  public static String hostOf(String authority) {
    int colon = authority.lastIndexOf(':');
    return colon > authority.lastIndexOf(']') ? authority.substring(0, colon) : authority;
  }

  /** Of a valid authority: whether it names a port. */
  public static boolean hasPort(byte[] octets, int start, int end) {
    return hostEnd(octets, start, end) < end - 1;
  }

  /** Where the host ends: at a colon or at {@code end}; -1 if it has an octet it may not have. */
  private static int hostEnd(byte[] octets, int start, int end) {
    int at = start;
    if (at < end && octets[at] == '[') {
      return literalEnd(octets, at + 1, end);
    }
    while (at < end && octets[at] != ':') {
      if (octets[at] < 0 || !REG_NAME[octets[at]]) {
        return -1;
      }
      if (octets[at] == '%' && Octets.escaped(octets, at, end) < 0) {
        return -1;
      }
      at++;
    }
    return at;
  }

  private static int literalEnd(byte[] octets, int from, int end) {
    int at = Octets.indexOf(octets, from, end, ']');
    boolean closed = at < end && (at + 1 == end || octets[at + 1] == ':');
    return closed && isIpv6(octets, from, at) ? at + 1 : -1;
  }

  /** Eight groups, or fewer around one {@code ::}; the last two may be an IPv4 address. */
  public static boolean isIpv6(byte[] octets, int start, int end) {
    int groups = 0;
    boolean gap = false;
    int at = start;
    while (at < end) {
      if (octets[at] == ':') {
        if (gap || at + 1 == end || octets[at + 1] != ':') {
          return false;
        }
        gap = true;
        at += 2;
        continue;
      }
      int groupEnd = at;
      while (groupEnd < end && Character.digit(octets[groupEnd], 16) >= 0) {
        groupEnd++;
      }
      if (groupEnd < end && octets[groupEnd] == '.') {
        return isIpv4(octets, at, end) && (gap ? groups < 6 : groups == 6);
      }
      if (groupEnd == at || groupEnd - at > 4) {
        return false;
      }
      groups++;
      at = groupEnd;
      if (at < end && (octets[at] != ':' || at + 1 == end)) {
        return false;
      }
      if (at < end && octets[at + 1] != ':') {
        at++;
      }
    }
    return gap ? groups < 8 : groups == 8;
  }

  /** Four decimal numbers of up to 255. */
  public static boolean isIpv4(byte[] octets, int start, int end) {
    int parts = 0;
    int at = start;
    while (at < end) {
      int value = 0;
      int digits = 0;
      while (at < end && Octets.isDigit(octets[at]) && digits < 3) {
        value = value * 10 + (octets[at++] - '0');
        digits++;
      }
      if (digits == 0 || value > 255 || ++parts > 4) {
        return false;
      }
      if (at < end && (octets[at++] != '.' || at == end)) {
        return false;
      }
    }
    return parts == 4;
  }

  /** A port may be empty (RFC 3986 §3.2.3); it may not exceed 65535. */
  private static boolean isPort(byte[] octets, int start, int end) {
    int port = 0;
    for (int i = start; i < end; i++) {
      if (!Octets.isDigit(octets[i])) {
        return false;
      }
      port = port * 10 + (octets[i] - '0');
      if (port > 65_535) {
        return false;
      }
    }
    return true;
  }

  // The normal form

  /** The normal form of the octets in {@code [start, end)}, in an array of its own. */
  public static byte[] normal(byte[] octets, int start, int end, boolean isSecure) {
    byte[] normal = new byte[end - start];
    return Arrays.copyOf(normal, copyNormal(octets, start, end, isSecure, normal, 0));
  }

  /**
   * Writes the normal form of the octets in {@code [start, end)}; what is no host with an optional
   * port comes out in lower case.
   *
   * @param into has room for {@code end - start} octets from {@code offset} on: the normal form is
   *     never longer
   * @return its length
   */
  public static int copyNormal(
      byte[] octets, int start, int end, boolean isSecure, byte[] into, int offset) {
    int hostEnd = colonBeforePort(octets, start, end);
    int port = hostEnd + 1;
    while (port < end - 1 && octets[port] == '0') {
      port++;
    }
    boolean isDefault =
        port >= end || Octets.equalsIgnoreCase(octets, port, end, isSecure ? "443" : "80");
    int length = lower(octets, start, hostEnd, into, offset);
    if (!isDefault) {
      into[length++] = ':';
      length = lower(octets, port, end, into, length);
    }
    return length - offset;
  }

  private static int lower(byte[] octets, int start, int end, byte[] into, int offset) {
    int length = offset;
    for (int i = start; i < end; i++) {
      into[length++] = Octets.lower(octets[i]);
    }
    return length;
  }

  /**
   * Where the colon before the port stands, or the end. Colons inside an IP literal do not count.
   */
  private static int colonBeforePort(byte[] octets, int start, int end) {
    for (int i = end - 1; i >= start && octets[i] != ']'; i--) {
      if (octets[i] == ':') {
        return i;
      }
    }
    return end;
  }
}
