package io.kamille.core.answer;

import io.kamille.core.http.Octets;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The file name that the path of a request means. Stateless; any thread. */
final class FileTarget {

  /*
   * The path is decoded once, segment by segment, so that nothing decoded is looked at again. No
   * segment may begin with a dot: that refuses hidden files, and with them all dot segments. Only
   * the first may be .well-known, which sites publish (RFC 8615). An encoded slash would make two
   * segments of one, and a NUL end the name: both are refused, as is what is no UTF-8. Empty
   * segments are passed over, as routes do.
   */
  private static final String PUBLISHED = ".well-known/";

  private FileTarget() {}

  /**
   * The path within the directory: without a slash in front, with one at its end if it means a
   * directory, empty for the directory itself. Null if it can mean no file.
   */
  static @Nullable String of(byte[] octets, int start, int end) {
    byte[] decoded = new byte[end - start];
    int length = 0;
    boolean isNewSegment = true;
    for (int at = start; at < end; ) {
      int octet = octets[at] & 0xff;
      if (octet == '/') {
        if (!isNewSegment) {
          decoded[length++] = '/';
        }
        isNewSegment = true;
        at++;
        continue;
      }
      if (octet == '%') {
        octet = Octets.escaped(octets, at, end);
        at += 2;
      }
      at++;
      if (octet <= 0 || octet == '/') {
        return null;
      }
      isNewSegment = false;
      decoded[length++] = (byte) octet;
    }
    String path = text(decoded, length);
    return path == null || isHidden(path) ? null : path;
  }

  /** Whether that path within the directory names a hidden file, or what lies in one. */
  static boolean isHidden(String path) {
    String shown = path.startsWith(PUBLISHED) ? path.substring(PUBLISHED.length()) : path;
    return shown.startsWith(".") || shown.contains("/.");
  }

  private static @Nullable String text(byte[] octets, int length) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(octets, 0, length))
          .toString();
    } catch (CharacterCodingException notText) {
      return null;
    }
  }
}
