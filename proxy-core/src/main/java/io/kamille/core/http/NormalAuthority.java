package io.kamille.core.http;

import java.util.Arrays;

/**
 * Host and port of a target URI in normal form (RFC 9110 §4.2.3): in lower case, the port without
 * leading zeros, and none where it is empty or the default of the scheme. Stateless; any thread.
 *
 * <p>Cache keys are made of it, and origins are told it: an origin that could see a spelling its
 * clients' shared key does not tell apart could be made to poison the cache.
 */
public final class NormalAuthority {

  private NormalAuthority() {}

  /** The normal form of the octets in {@code [start, end)}, in an array of its own. */
  public static byte[] of(byte[] octets, int start, int end, boolean isSecure) {
    byte[] normal = new byte[end - start];
    return Arrays.copyOf(normal, copy(octets, start, end, isSecure, normal));
  }

  /**
   * Writes the normal form of the octets in {@code [start, end)}; what is no host with an optional
   * port comes out in lower case.
   *
   * @param into has room for {@code end - start} octets: the normal form is never longer
   * @return its length
   */
  public static int copy(byte[] octets, int start, int end, boolean isSecure, byte[] into) {
    int hostEnd = hostEnd(octets, start, end);
    int port = hostEnd + 1;
    while (port < end - 1 && octets[port] == '0') {
      port++;
    }
    boolean isDefault =
        port >= end || Octets.equalsIgnoreCase(octets, port, end, isSecure ? "443" : "80");
    int length = lower(octets, start, hostEnd, into, 0);
    if (!isDefault) {
      into[length++] = ':';
      length = lower(octets, port, end, into, length);
    }
    return length;
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
  private static int hostEnd(byte[] octets, int start, int end) {
    for (int i = end - 1; i >= start && octets[i] != ']'; i--) {
      if (octets[i] == ':') {
        return i;
      }
    }
    return end;
  }
}
