package io.kamille.core.h2;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.SectionWriter;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes a field section in HPACK (RFC 7541). Confined to its loop; one per loop, used for one
 * section at a time.
 */
public final class HpackWriter extends SectionWriter {

  /*
   * Names of the static table, literals without indexing, no Huffman code, no dynamic table. Both
   * would save the network some octets and cost more than all the rest of a small answer; and
   * without a dynamic table a section can be written once for many connections. The first section
   * of a connection says that the table has no room, which settles every later change of its limit.
   *
   * What lets somebody in is never to be indexed by those behind us either (§7.1.3). Nor is what
   * the static table does not name, nor any field of a request: a client may have asked for that,
   * and then it has to stay so (§6.2.3).
   */
  private static final int AUTHORITY_NAME = 1;
  private static final int METHOD_NAME = 2;
  private static final int PATH_NAME = 4;
  private static final int SCHEME_NAME = 6;
  private static final int STATUS_NAME = 8;
  private static final int[] STATUS = {200, 204, 206, 304, 400, 404, 500};
  private static final int FIRST_FIELD = 15;

  /** The names behind the pseudo-fields, in their order (RFC 7541, Appendix A). */
  private static final String STATIC_TABLE =
      """
      accept-charset accept-encoding accept-language accept-ranges accept
      access-control-allow-origin age allow authorization cache-control content-disposition
      content-encoding content-language content-length content-location content-range content-type
      cookie date etag expect expires from host if-match if-modified-since if-none-match if-range
      if-unmodified-since last-modified link location max-forwards proxy-authenticate
      proxy-authorization range referer refresh retry-after server set-cookie
      strict-transport-security transfer-encoding user-agent vary via www-authenticate\
      """;

  private static final Set<FieldName> OF_CONNECTION =
      EnumSet.of(
          FieldName.CONNECTION,
          FieldName.KEEP_ALIVE,
          FieldName.PROXY_CONNECTION,
          FieldName.TRANSFER_ENCODING,
          FieldName.UPGRADE,
          FieldName.HTTP2_SETTINGS);

  private static final byte FORBIDDEN = -1;
  private static final byte[] STATIC_NAME = staticNames();
  private static final int NEVER_INDEXED = 0x10;

  /**
   * Bits of Authorization, Cookie, Proxy-Authorization and Set-Cookie in the static table, and of
   * 0, which stands before any name that is not there.
   */
  private static final long SECRETS = 1L | 1L << 23 | 1L << 32 | 1L << 49 | 1L << 55;

  private static final byte TABLE_SIZE_ZERO = 0x20;

  private long secrets = SECRETS;

  private static byte[] staticNames() {
    byte[] index = new byte[FieldName.values().length];
    String[] named = STATIC_TABLE.split("\\s+", -1);
    for (int i = 0; i < named.length; i++) {
      FieldName known = FieldName.of(named[i]);
      if (known != null) {
        index[known.ordinal()] = (byte) (FIRST_FIELD + i);
      }
    }
    OF_CONNECTION.forEach(name -> index[name.ordinal()] = FORBIDDEN);
    return index;
  }

  /**
   * Begins a section.
   *
   * @param isFirst whether it is the first of its connection
   */
  public void begin(boolean isFirst) {
    length = 0;
    secrets = SECRETS;
    if (isFirst) {
      octets[length++] = TABLE_SIZE_ZERO;
    }
  }

  @Override
  public void status(int status) {
    room(5);
    int index = Arrays.binarySearch(STATUS, status);
    if (index >= 0) {
      octets[length++] = (byte) (0x80 | (STATUS_NAME + index));
      return;
    }
    octets[length++] = STATUS_NAME;
    octets[length++] = 3;
    octets[length++] = (byte) ('0' + status / 100);
    octets[length++] = (byte) ('0' + status / 10 % 10);
    octets[length++] = (byte) ('0' + status % 10);
  }

  /** Writes {@code :method}: the section is that of a request. */
  public void method(String method) {
    secrets = -1;
    switch (method) {
      case "GET" -> indexed(METHOD_NAME);
      case "POST" -> indexed(METHOD_NAME + 1);
      default -> pseudo(METHOD_NAME, Fields.octetsOf(method));
    }
  }

  /** Writes {@code :scheme}. */
  public void scheme(boolean isSecure) {
    indexed(isSecure ? SCHEME_NAME + 1 : SCHEME_NAME);
  }

  /** Writes {@code :authority}. */
  public void authority(byte[] authority) {
    pseudo(AUTHORITY_NAME, authority);
  }

  /** Writes {@code :path}. */
  public void path(byte[] path) {
    pseudo(PATH_NAME, path);
  }

  private void indexed(int index) {
    room(1);
    octets[length++] = (byte) (0x80 | index);
  }

  private void pseudo(int name, byte[] value) {
    room(12 + value.length);
    staticName(name);
    integer(0, 7, value.length);
    System.arraycopy(value, 0, octets, length, value.length);
    length += value.length;
  }

  /** One that concerns a connection alone is left out. */
  @Override
  public void line(Fields fields, int index) {
    FieldName known = fields.knownAt(index);
    line(
        known,
        fields.octets(),
        fields.nameStart(index),
        fields.nameEnd(index),
        fields.valueStart(index),
        fields.valueEnd(index));
  }

  @Override
  public void line(FieldName name, String value) {
    room(6 + value.length());
    staticName(STATIC_NAME[name.ordinal()]);
    integer(0, 7, value.length());
    for (int i = 0; i < value.length(); i++) {
      octets[length++] = (byte) value.charAt(i);
    }
  }

  @Override
  public void line(FieldName name, long value) {
    line(name, Long.toString(value));
  }

  /** Up to an empty one or the end. */
  @Override
  public void lines(byte[] source, int from, int to) {
    int at = from;
    while (at < to && source[at] != '\r') {
      int hash = 0;
      int nameEnd = at;
      while (source[nameEnd] != ':') {
        hash = FieldName.hashStep(hash, Octets.lower(source[nameEnd]));
        nameEnd++;
      }
      int valueStart = nameEnd + 1;
      while (source[valueStart] == ' ') {
        valueStart++;
      }
      int valueEnd = valueStart;
      while (source[valueEnd] != '\r') {
        valueEnd++;
      }
      line(FieldName.of(source, at, nameEnd, hash), source, at, nameEnd, valueStart, valueEnd);
      at = valueEnd + 2;
    }
  }

  private void line(
      @Nullable FieldName known,
      byte[] source,
      int nameStart,
      int nameEnd,
      int valueStart,
      int valueEnd) {
    int index = known == null ? 0 : STATIC_NAME[known.ordinal()];
    if (index == FORBIDDEN) {
      return;
    }
    int valueLength = valueEnd - valueStart;
    room(12 + nameEnd - nameStart + valueLength);
    staticName(index);
    if (index == 0) {
      integer(0, 7, nameEnd - nameStart);
      for (int i = nameStart; i < nameEnd; i++) {
        octets[length++] = Octets.lower(source[i]);
      }
    }
    integer(0, 7, valueLength);
    System.arraycopy(source, valueStart, octets, length, valueLength);
    length += valueLength;
  }

  private void staticName(int index) {
    integer((secrets >>> index & 1) == 0 ? 0 : NEVER_INDEXED, 4, index);
  }

  /** RFC 7541 §5.1. */
  private void integer(int first, int prefixBits, int value) {
    int most = (1 << prefixBits) - 1;
    if (value < most) {
      octets[length++] = (byte) (first | value);
      return;
    }
    octets[length++] = (byte) (first | most);
    int rest = value - most;
    while (rest >= 0x80) {
      octets[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    octets[length++] = (byte) rest;
  }

  /** Copies a part of the section out. */
  public void copyTo(ByteBuf out, int from, int count) {
    out.writeBytes(octets, from, count);
  }
}
