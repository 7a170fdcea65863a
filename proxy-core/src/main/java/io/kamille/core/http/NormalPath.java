package io.kamille.core.http;

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
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~!$&'()*+,=:@";

  /** No octet. */
  private static final int NONE = -1;

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
   * but for octets that mean the same in any path (RFC 3986 §3.3). A semicolon is not one of them,
   * nor is a percent sign that begins none of the octets that {@code of} leaves encoded: {@code
   * %%32e} would become a dot.
   */
  public static byte[] encoded(byte[] path, int from) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(2 * path.length);
    for (int i = from; i < path.length; i++) {
      int octet = path[i] & 0xff;
      boolean isSame =
          octet == '%'
              ? isLeft(Octets.escaped(path, i, path.length))
              : SAME_IN_ANY_PATH.indexOf(octet) >= 0;
      if (isSame) {
        out.write(octet);
      } else {
        out.write('%');
        out.write(HEX.toHighHexDigit(octet));
        out.write(HEX.toLowHexDigit(octet));
      }
    }
    return out.toByteArray();
  }

  /**
   * Whether a path has a segment of two dots for any server: for one that takes backslashes and
   * encoded slashes for slashes, decodes what it likes, and drops parameters ({@code ..;x}).
   *
   * @param isStrict whether a segment of parameters alone, or of a dot with them, is one, too
   */
  public static boolean mayClimb(byte[] octets, int start, int end, boolean isStrict) {
    int dots = 0;
    boolean hasOthers = false;
    boolean hasParameters = false;
    for (int i = start; i <= end; i++) {
      int escaped = i < end && octets[i] == '%' ? Octets.escaped(octets, i, end) : NONE;
      int octet = i == end ? '/' : escaped == NONE ? octets[i] : escaped;
      i += escaped == NONE ? 0 : 2;
      if (octet == '/' || octet == '\\') {
        if (!hasOthers && (dots == 2 || (isStrict && hasParameters && dots < 2))) {
          return true;
        }
        dots = 0;
        hasOthers = false;
        hasParameters = false;
      } else if (octet == ';' && (isStrict || escaped == NONE)) {
        hasParameters = true;
      } else if (!hasParameters) {
        dots += octet == '.' ? 1 : 0;
        hasOthers |= octet != '.';
      }
    }
    return false;
  }

  /** Whether {@code path} is as {@link #of} would leave it. */
  public static boolean isNormal(String path) {
    byte[] octets = path.getBytes(StandardCharsets.ISO_8859_1);
    return Arrays.equals(of(octets, 0, octets.length), octets);
  }

  /** The path in {@code [start, end)}, as routes compare it. */
  public static byte[] of(byte[] octets, int start, int end) {
    byte[] decoded = new byte[end - start];
    int length = 0;
    for (int i = start; i < end; i++) {
      int octet = octets[i] == '%' ? Octets.escaped(octets, i, end) : NONE;
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
      int next = Octets.indexOf(path, at + 1, length, '/');
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

  /** Whether {@link #of} leaves such an octet encoded. */
  private static boolean isLeft(int octet) {
    return octet != NONE && !isPlain(octet);
  }
}
