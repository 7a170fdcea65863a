package io.kamille.cache.serve;

import io.kamille.core.http.ByteRange;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The field lines that a cache adds to a stored response, encoded into octets that are used again
 * for every answer. Confined to one loop.
 */
final class OwnLines {

  private static final byte[] AGE = ascii("Age: ");
  private static final byte[] CONTENT_LENGTH = ascii("Content-Length: ");
  private static final byte[] CONTENT_RANGE = ascii("Content-Range: ");

  /** The longest decimal long with its sign. */
  private static final int DIGITS = 20;

  private byte[] octets = new byte[256];
  private int length;

  /** Forgets all lines and keeps the memory. */
  void clear() {
    length = 0;
  }

  /** The octets; only the first {@link #length()} count. Borrowed until the next change. */
  byte[] octets() {
    return octets;
  }

  int length() {
    return length;
  }

  /** Age (RFC 9111 §5.1). */
  void age(long seconds) {
    append(AGE);
    append(seconds);
    endLine();
  }

  void contentLength(long bytes) {
    append(CONTENT_LENGTH);
    append(bytes);
    endLine();
  }

  /** Content-Range of a part (RFC 9110 §14.4). */
  void contentRange(ByteRange range) {
    append(CONTENT_RANGE);
    append(ascii(range.contentRange()));
    endLine();
  }

  /** Appends octets as they are. */
  void append(byte[] text) {
    ensure(text.length);
    System.arraycopy(text, 0, octets, length, text.length);
    length += text.length;
  }

  /** Appends a number in decimal digits. */
  void append(long number) {
    ensure(DIGITS);
    if (number < 0) {
      octets[length++] = '-';
    }
    int digits = 1;
    for (long rest = number / 10; rest != 0; rest /= 10) {
      digits++;
    }
    long rest = number;
    for (int at = length + digits - 1; at >= length; at--) {
      octets[at] = (byte) ('0' + Math.abs(rest % 10));
      rest /= 10;
    }
    length += digits;
  }

  void endLine() {
    append('\r');
    append('\n');
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private void append(char octet) {
    ensure(1);
    octets[length++] = (byte) octet;
  }

  private void ensure(int more) {
    if (octets.length - length < more) {
      octets = Arrays.copyOf(octets, Math.max(octets.length * 2, length + more));
    }
  }
}
