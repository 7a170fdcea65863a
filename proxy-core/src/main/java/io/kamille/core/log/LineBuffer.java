package io.kamille.core.log;

import java.util.Arrays;

/** Octets of a line, appended piece by piece. Confined to its loop. */
final class LineBuffer {

  private static final byte[] HEX = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
  };

  private byte[] octets;
  private int length;

  LineBuffer(int capacity) {
    octets = new byte[capacity];
  }

  int length() {
    return length;
  }

  /** What was appended so far, and room behind; valid until the next change. */
  byte[] octets() {
    return octets;
  }

  LineBuffer clear() {
    length = 0;
    return this;
  }

  private void grow(int count) {
    if (length + count > octets.length) {
      octets = Arrays.copyOf(octets, 2 * (length + count));
    }
  }

  LineBuffer octet(int octet) {
    grow(1);
    octets[length++] = (byte) octet;
    return this;
  }

  /** What is not ASCII becomes a question mark. */
  LineBuffer ascii(String text) {
    grow(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      octets[length++] = (byte) (c < 0x80 ? c : '?');
    }
    return this;
  }

  LineBuffer octets(byte[] source) {
    return octets(source, 0, source.length);
  }

  LineBuffer octets(byte[] source, int start, int end) {
    grow(end - start);
    System.arraycopy(source, start, octets, length, end - start);
    length += end - start;
    return this;
  }

  LineBuffer decimal(long value) {
    if (value < 0) {
      return ascii(Long.toString(value));
    }
    int digits = 1;
    for (long rest = value / 10; rest > 0; rest /= 10) {
      digits++;
    }
    return digits(value, digits);
  }

  /** The last {@code count} digits of {@code value}. */
  LineBuffer digits(long value, int count) {
    for (int i = 0; i < count; i++) {
      octet('0');
    }
    long rest = value;
    for (int i = 1; i <= count; i++) {
      octets[length - i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    return this;
  }

  /** The last {@code count} hexadecimal digits of {@code value}. */
  LineBuffer hex(int value, int count) {
    for (int shift = 4 * (count - 1); shift >= 0; shift -= 4) {
      octet(HEX[value >>> shift & 0xf]);
    }
    return this;
  }

  /** Seconds with six decimals. */
  LineBuffer seconds(long nanos) {
    long micros = Math.max(nanos, 0) / 1000;
    return decimal(micros / 1_000_000).octet('.').digits(micros % 1_000_000, 6);
  }
}
