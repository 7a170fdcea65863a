package io.kamille.core.log;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Octets of lines to be written, appended piece by piece. Confined to the writer. */
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

  /** Drops what stands behind {@code end}. */
  void cut(int end) {
    length = end;
  }

  /** What was appended so far; valid until the next change. */
  ByteBuffer content() {
    return ByteBuffer.wrap(octets, 0, length);
  }

  LineBuffer octet(int octet) {
    if (length == octets.length) {
      octets = Arrays.copyOf(octets, 2 * length);
    }
    octets[length++] = (byte) octet;
    return this;
  }

  LineBuffer ascii(String text) {
    for (int i = 0; i < text.length(); i++) {
      octet(text.charAt(i));
    }
    return this;
  }

  LineBuffer octets(byte[] source) {
    for (byte octet : source) {
      octet(octet);
    }
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

  /** An IP address as text (RFC 5952 for version 6), or a dash if it is not known. */
  LineBuffer address(byte[] source, int start, int addressLength) {
    return switch (addressLength) {
      case 0 -> octet('-');
      case 4 ->
          decimal(source[start] & 0xff)
              .octet('.')
              .decimal(source[start + 1] & 0xff)
              .octet('.')
              .decimal(source[start + 2] & 0xff)
              .octet('.')
              .decimal(source[start + 3] & 0xff);
      default -> ascii(longAddress(Arrays.copyOfRange(source, start, start + addressLength)));
    };
  }

  private static String longAddress(byte[] address) {
    try {
      return NetUtil.toAddressString(InetAddress.getByAddress(address));
    } catch (UnknownHostException impossible) {
      throw new IllegalArgumentException("address of " + address.length + " octets", impossible);
    }
  }
}
