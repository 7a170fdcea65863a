package io.kamille.core.h1;

import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.SectionWriter;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;

/**
 * Puts a head together in an array of its own and copies it out in one go. Confined to its loop;
 * one per loop, used for one head at a time.
 */
public final class HeadWriter extends SectionWriter {

  @Override
  public void status(int status) {
    length = 0;
    octets(StatusCode.statusLine(status));
  }

  /** Begins a section without a start line. */
  public void begin() {
    length = 0;
  }

  /** Appends octets as they are. */
  public void octets(byte[] source) {
    octets(source, 0, source.length);
  }

  /** Appends octets as they are. */
  public void octets(byte[] source, int offset, int count) {
    room(count);
    System.arraycopy(source, offset, octets, length, count);
    length += count;
  }

  @Override
  public void lines(byte[] source, int from, int to) {
    octets(source, from, to - from);
  }

  /** Appends the next octets of a buffer, which is borrowed. */
  public void octets(ByteBuf source, int count) {
    room(count);
    source.readBytes(octets, length, count);
    length += count;
  }

  /** Appends an authority in its normal form. */
  public void authority(byte[] source, int start, int end, boolean isSecure) {
    room(end - start);
    length += Authority.copyNormal(source, start, end, isSecure, octets, length);
  }

  /** Appends ASCII text. */
  public void text(String text) {
    room(text.length());
    for (int i = 0; i < text.length(); i++) {
      octets[length + i] = (byte) text.charAt(i);
    }
    length += text.length();
  }

  public void octet(char octet) {
    room(1);
    octets[length++] = (byte) octet;
  }

  /** Appends {@code number}, which is not negative, in decimal digits. */
  public void decimal(long number) {
    int digits = 1;
    for (long rest = number; rest >= 10; rest /= 10) {
      digits++;
    }
    room(digits);
    long rest = number;
    for (int i = length + digits - 1; i >= length; i--) {
      octets[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    length += digits;
  }

  @Override
  public void line(FieldName name, String value) {
    text(name.text());
    text(": ");
    text(value);
    newLine();
  }

  @Override
  public void line(FieldName name, long value) {
    text(name.text());
    text(": ");
    decimal(value);
    newLine();
  }

  @Override
  public void line(Fields fields, int index) {
    byte[] source = fields.octets();
    int start = fields.nameStart(index);
    int nameEnd = fields.nameEnd(index);
    int valueStart = fields.valueStart(index);
    int valueEnd = fields.valueEnd(index);
    if (isWhole(source, nameEnd, valueStart, valueEnd)) {
      octets(source, start, valueEnd + 2 - start);
      return;
    }
    octets(source, start, nameEnd - start);
    text(": ");
    octets(source, valueStart, valueEnd - valueStart);
    newLine();
  }

  /** Whether a line stands in its octets as it would be written: parsed ones mostly do. */
  private static boolean isWhole(byte[] source, int nameEnd, int valueStart, int valueEnd) {
    return valueStart == nameEnd + 2
        && valueEnd + 1 < source.length
        && source[nameEnd] == ':'
        && source[nameEnd + 1] == ' '
        && source[valueEnd] == '\r'
        && source[valueEnd + 1] == '\n';
  }

  /** Appends a CRLF: ends a line, or the section. */
  public void newLine() {
    room(2);
    octets[length++] = '\r';
    octets[length++] = '\n';
  }

  /** What was written, from 0 up to {@link #length}; borrowed until the next use. */
  public byte[] octets() {
    return octets;
  }

  /** The head in a buffer of its own. The caller owns it. */
  public ByteBuf toBuffer(ByteBufAllocator allocator) {
    ByteBuf out = allocator.directBuffer(length, length);
    out.writeBytes(octets, 0, length);
    trim();
    return out;
  }

  @Override
  public String toString() {
    return new String(octets, 0, length, StandardCharsets.ISO_8859_1);
  }
}
