package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Takes the fields of one section after the other off the HPACK decoder, strictly (RFC 9113 §8.2).
 * Confined to its loop; one per loop, for one section at a time.
 */
abstract class SectionSink extends DefaultHttp2Headers {

  /*
   * The decoder calls `add` for each field and stores nothing itself. What is malformed is thrown
   * at it as an IllegalArgumentException; it decodes on, so that its table stays right, and makes a
   * stream error of it. A section over its limits is decoded on and stored no further.
   *
   * Netty's decoder sees to the order of pseudo-fields, to fields that concern a connection, and to
   * TE. All other rules are here and below, since this sink stands in for Netty's checks.
   *
   * Lines lie as HTTP/1 writes them, with colon and CRLF, so that they can be copied as one run of
   * octets.
   */
  private static final int FIELD_OVERHEAD = 32;
  private static final AsciiString HTTP2_SETTINGS = AsciiString.cached("http2-settings");

  private HeadLimits limits;
  private @Nullable Fields into;
  private int filled;
  private int listBytes;
  private int count;
  private boolean tooLarge;

  SectionSink(HeadLimits limits) {
    super(false);
    this.limits = limits;
  }

  /** The next section is stored there; null for one that is looked at and dropped. */
  void begin(HeadLimits limits, @Nullable Fields fields) {
    this.limits = limits;
    into = fields;
    filled = 0;
    listBytes = 0;
    count = 0;
    tooLarge = false;
  }

  /** A field whose name begins with a colon. */
  abstract void pseudo(AsciiString name, AsciiString value);

  /** Another field, which is well-formed and within the limits. */
  abstract void field(Fields into, @Nullable FieldName known, AsciiString name, AsciiString value);

  /** The value of a pseudo-field that may come once. */
  static AsciiString once(@Nullable AsciiString before, AsciiString value) {
    if (before != null || value.isEmpty()) {
      throw new MalformedSection("a pseudo-field that is empty or repeated");
    }
    return value;
  }

  @Override
  public Http2Headers add(CharSequence name, CharSequence value) {
    accept((AsciiString) name, (AsciiString) value);
    return this;
  }

  private void accept(AsciiString name, AsciiString value) {
    listBytes += name.length() + value.length() + FIELD_OVERHEAD;
    tooLarge = tooLarge || listBytes > limits.headBytes();
    if (name.isEmpty()) {
      throw new MalformedSection("an empty field name");
    }
    if (name.byteAt(0) == ':') {
      pseudo(name, value);
    } else {
      checked(name, value);
    }
  }

  private void checked(AsciiString name, AsciiString value) {
    int hash = hashOfName(name);
    checkValue(value);
    if (name.contentEquals(HTTP2_SETTINGS)) {
      throw new MalformedSection("a field that concerns a connection");
    }
    Fields fields = into;
    if (fields == null) {
      return;
    }
    tooLarge = tooLarge || ++count > limits.fields();
    if (!tooLarge) {
      int start = name.arrayOffset();
      field(fields, FieldName.of(name.array(), start, start + name.length(), hash), name, value);
    }
  }

  void store(Fields fields, AsciiString name, AsciiString value, @Nullable FieldName known) {
    store(
        fields,
        name.array(),
        name.arrayOffset(),
        name.length(),
        value.array(),
        value.arrayOffset(),
        value.length(),
        known);
  }

  void store(
      Fields fields,
      byte[] name,
      int nameOffset,
      int nameLength,
      byte[] value,
      int valueOffset,
      int valueLength,
      @Nullable FieldName known) {
    int start = filled;
    int valueStart = start + nameLength + 2;
    int end = valueStart + valueLength;
    byte[] octets = fields.roomFor(end + 2);
    System.arraycopy(name, nameOffset, octets, start, nameLength);
    octets[start + nameLength] = ':';
    octets[start + nameLength + 1] = ' ';
    System.arraycopy(value, valueOffset, octets, valueStart, valueLength);
    octets[end] = '\r';
    octets[end + 1] = '\n';
    filled = end + 2;
    fields.pushParsed(start, start + nameLength, valueStart, end, known);
  }

  HeadLimits limits() {
    return limits;
  }

  /** Whether the section is over its limits, and not stored whole. */
  boolean isTooLarge() {
    return tooLarge;
  }

  /** Octets stored so far. */
  int filled() {
    return filled;
  }

  /** So many octets are stored by now. */
  void filled(int octets) {
    filled = octets;
  }

  // What a field must look like (RFC 9113 §8.2, §8.3)

  /**
   * The hash of a name that is a token in lower case (§8.2.1).
   *
   * @throws MalformedSection if it is none
   */
  private static int hashOfName(AsciiString name) {
    byte[] octets = name.array();
    int hash = 0;
    int end = name.arrayOffset() + name.length();
    for (int i = name.arrayOffset(); i < end; i++) {
      byte octet = octets[i];
      if (octet == 0 || Octets.tokenLower(octet) != octet) {
        throw new MalformedSection("a field name that is no token in lower case");
      }
      hash = FieldName.hashStep(hash, octet);
    }
    return hash;
  }

  /**
   * No control octet but the tab, no blank at either end (§8.2.1).
   *
   * @throws MalformedSection otherwise
   */
  private static void checkValue(AsciiString value) {
    byte[] octets = value.array();
    int start = value.arrayOffset();
    int end = start + value.length();
    for (int i = start; i < end; i++) {
      byte octet = octets[i];
      if (octet >= 0 && (octet < ' ' || octet == 0x7f) && octet != '\t') {
        throw new MalformedSection("a control octet in a value");
      }
    }
    if (end > start && (Octets.isBlank(octets[start]) || Octets.isBlank(octets[end - 1]))) {
      throw new MalformedSection("a blank around a value");
    }
  }

  /**
   * The number that {@code content-length} is (§8.1.1).
   *
   * @param isRepeated whether another line said one before
   * @throws MalformedSection if it is no number, or repeated
   */
  static long length(AsciiString value, boolean isRepeated) {
    int start = value.arrayOffset();
    long length = Octets.decimal(value.array(), start, start + value.length());
    if (isRepeated || length < 0) {
      throw new MalformedSection("a content-length that is not one number");
    }
    return length;
  }

  /** Whether it is an absolute path of visible ASCII, or the asterisk of OPTIONS (§8.3.1). */
  static boolean isPath(AsciiString target, AsciiString method) {
    if (target.byteAt(0) != '/') {
      return target.contentEquals("*") && method.contentEquals("OPTIONS");
    }
    for (int i = 0; i < target.length(); i++) {
      byte octet = target.byteAt(i);
      if (octet <= ' ' || octet == 0x7f || octet == '#') {
        return false;
      }
    }
    return true;
  }

  /**
   * What the HPACK decoder is told of a field that may not be: it decodes on, so that its table
   * stays right, and makes a stream error of it. It costs no stack trace: hostile octets may have
   * many.
   */
  static final class MalformedSection extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    MalformedSection(String reason) {
      super(reason);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }
}
