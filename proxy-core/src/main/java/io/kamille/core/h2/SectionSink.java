package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
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
    int hash = FieldRules.hashOfName(name);
    FieldRules.checkValue(value);
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
}
