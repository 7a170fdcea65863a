package io.kamille.core.route;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A path as routes compare it: percent-encoded octets decoded, but for those that would take it
 * apart, empty segments merged, dot segments removed (RFC 3986 §6.2.2, §5.2.4). Stateless; any
 * thread.
 *
 * <p>RFC 3986 decodes unreserved octets only; a file system, and most origins, know {@code %2B} as
 * {@code +}, so that a rule for {@code /a+b} has to, too.
 *
 * <p>RFC 3986 keeps empty segments; most origins, and every file system, do not. They are merged
 * before dot segments are looked at, so that {@code ..} takes away a segment that has a name.
 */
public final class NormalPath {

  private static final String SAME_IN_ANY_PATH =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/%-._~!$&'()*+,=:@";

  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private NormalPath() {}

  /** Whether the path holds a percent sign, an empty segment or one that begins with a dot. */
  public static boolean mayDiffer(byte[] octets, int start, int end) {
    for (int i = start; i < end; i++) {
      if (octets[i] == '%' || (octets[i] == '/' && i + 1 < end && isSpecial(octets[i + 1]))) {
        return true;
      }
    }
    return false;
  }

  private static boolean isSpecial(byte behindSlash) {
    return behindSlash == '.' || behindSlash == '/';
  }

  /**
   * A path of {@link #of}, from that octet on, for an origin: what was decoded is encoded again,
   * but for octets that mean the same in any path (RFC 3986 §3.3). A semicolon is not one of them.
   */
  public static byte[] encoded(byte[] path, int from) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(2 * path.length);
    for (int i = from; i < path.length; i++) {
      int octet = path[i] & 0xff;
      if (SAME_IN_ANY_PATH.indexOf(octet) >= 0) {
        out.write(octet);
      } else {
        out.write('%');
        out.write(HEX.toHighHexDigit(octet));
        out.write(HEX.toLowHexDigit(octet));
      }
    }
    return out.toByteArray();
  }

  /** Whether {@code path} is as {@link #of} would leave it. */
  static boolean isNormal(String path) {
    byte[] octets = path.getBytes(StandardCharsets.ISO_8859_1);
    return Arrays.equals(of(octets, 0, octets.length), octets);
  }

  /** The path in {@code [start, end)}, as routes compare it. */
  public static byte[] of(byte[] octets, int start, int end) {
    byte[] decoded = new byte[end - start];
    int length = 0;
    for (int i = start; i < end; i++) {
      int octet = octets[i] == '%' && i + 2 < end ? hex(octets[i + 1], octets[i + 2]) : -1;
      if (isPlain(octet)) {
        decoded[length++] = (byte) octet;
        i += 2;
      } else {
        decoded[length++] = octets[i];
      }
    }
    return Arrays.copyOf(decoded, plainSegments(decoded, length));
  }

  /** Works in place, segment by segment; answers the length that is left. */
  private static int plainSegments(byte[] path, int length) {
    int out = 0;
    int at = 0;
    while (at < length) {
      int next = at + 1;
      while (next < length && path[next] != '/') {
        next++;
      }
      int segment = next - at - 1;
      boolean empty = segment == 0 && next < length;
      boolean dot = segment == 1 && path[at + 1] == '.';
      boolean dots = segment == 2 && path[at + 1] == '.' && path[at + 2] == '.';
      if (dots) {
        while (out > 0 && path[--out] != '/') {}
      }
      if (!empty && !dot && !dots) {
        System.arraycopy(path, at, path, out, next - at);
        out += next - at;
      } else if (next == length) {
        path[out++] = '/';
      }
      at = next;
    }
    return out;
  }

  /** Whether an octet means the same encoded or not; what takes a path apart does not. */
  private static boolean isPlain(int octet) {
    return octet > ' ' && octet <= '~' && "/%?#".indexOf(octet) < 0;
  }

  private static int hex(byte high, byte low) {
    int h = Character.digit(high, 16);
    int l = Character.digit(low, 16);
    return h < 0 || l < 0 ? -1 : h << 4 | l;
  }
}
