package io.kamille.core.tls;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The little of ASN.1's distinguished encoding rules (ITU-T X.690) that certificates of our own and
 * private keys in older forms need. Stateless; any thread.
 */
final class Der {

  static final int INTEGER = 0x02;
  static final int OCTET_STRING = 0x04;
  static final int SEQUENCE = 0x30;
  static final int SET = 0x31;
  private static final int BOOLEAN = 0x01;
  private static final int BIT_STRING = 0x03;
  private static final int OBJECT_IDENTIFIER = 0x06;
  private static final int UTF8_STRING = 0x0c;
  private static final int GENERALIZED_TIME = 0x18;

  static final byte[] NULL = {0x05, 0x00};

  /** Where a value lies: from {@code start} to {@code end}. */
  record Element(int tag, int start, int end) {}

  private Der() {}

  /** A value with its tag and length before it; the value is the parts, one after the other. */
  static byte[] element(int tag, byte[]... parts) {
    int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
    var out = new ByteArrayOutputStream(length + 6);
    out.write(tag);
    if (length < 0x80) {
      out.write(length);
    } else {
      int octets = (Integer.SIZE - Integer.numberOfLeadingZeros(length) + 7) / 8;
      out.write(0x80 | octets);
      for (int i = octets - 1; i >= 0; i--) {
        out.write(length >>> (8 * i));
      }
    }
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  static byte[] sequence(byte[]... parts) {
    return element(SEQUENCE, parts);
  }

  static byte[] integer(BigInteger value) {
    return element(INTEGER, value.toByteArray());
  }

  static byte[] bool(boolean value) {
    return element(BOOLEAN, new byte[] {(byte) (value ? 0xff : 0)});
  }

  static byte[] bits(byte[] octets) {
    return element(BIT_STRING, new byte[] {0}, octets);
  }

  static byte[] utf8(String text) {
    return element(UTF8_STRING, text.getBytes(StandardCharsets.UTF_8));
  }

  /** A time as {@code 20260102030405Z}. */
  static byte[] time(String text) {
    return element(GENERALIZED_TIME, text.getBytes(StandardCharsets.US_ASCII));
  }

  /** An object identifier as {@code 1.2.840.10045.2.1}. */
  static byte[] identifier(String dotted) {
    String[] arcs = dotted.split("\\.", -1);
    var out = new ByteArrayOutputStream();
    out.write(Integer.parseInt(arcs[0]) * 40 + Integer.parseInt(arcs[1]));
    for (int i = 2; i < arcs.length; i++) {
      int arc = Integer.parseInt(arcs[i]);
      for (int shift = 28; shift > 0; shift -= 7) {
        if (arc >>> shift != 0) {
          out.write(0x80 | (arc >>> shift & 0x7f));
        }
      }
      out.write(arc & 0x7f);
    }
    return element(OBJECT_IDENTIFIER, out.toByteArray());
  }

  /**
   * The element that begins at {@code offset}.
   *
   * @throws IllegalArgumentException if it is cut short or its length makes no sense
   */
  static Element read(byte[] octets, int offset) {
    if (octets.length - offset < 2) {
      throw new IllegalArgumentException("a value that is cut short");
    }
    int at = offset + 2;
    int length = octets[offset + 1] & 0xff;
    if (length >= 0x80) {
      int count = length & 0x7f;
      if (count == 0 || count > 3 || octets.length - at < count) {
        throw new IllegalArgumentException("a length that makes no sense");
      }
      length = 0;
      for (int i = 0; i < count; i++) {
        length = (length << 8) | (octets[at++] & 0xff);
      }
    }
    if (octets.length - at < length) {
      throw new IllegalArgumentException("a value that is cut short");
    }
    return new Element(octets[offset] & 0xff, at, at + length);
  }
}
