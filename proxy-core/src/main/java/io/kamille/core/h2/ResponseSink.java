package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Takes the fields of a response off the HPACK decoder, strictly (RFC 9113 §8.3.2). Confined to its
 * loop; one per loop, for one section at a time.
 */
public final class ResponseSink extends SectionSink {

  private static final int STATUS_DIGITS = 3;
  private static final int NO_LENGTH = -1;

  private boolean trailers;
  private @Nullable AsciiString status;
  private long contentLength;

  /** A sink of one loop. */
  public ResponseSink() {
    super(HeadLimits.RESPONSE);
  }

  /** The next section is a head, or the trailers, and is stored there; null to drop it. */
  void begin(HeadLimits limits, @Nullable Fields fields, boolean isTrailers) {
    begin(limits, fields);
    trailers = isTrailers;
    status = null;
    contentLength = NO_LENGTH;
  }

  @Override
  void pseudo(AsciiString name, AsciiString value) {
    if (trailers || !name.contentEquals(":status")) {
      throw new MalformedSection("a pseudo-field other than one :status");
    }
    status = once(status, value);
  }

  @Override
  void field(Fields into, @Nullable FieldName known, AsciiString name, AsciiString value) {
    if (known == FieldName.CONTENT_LENGTH) {
      contentLength = length(value, contentLength != NO_LENGTH);
    } else {
      store(into, name, value, known);
    }
  }

  /** What the response says of its content's length, or -1. It is not among the fields. */
  long contentLength() {
    return contentLength;
  }

  /**
   * Completes a head over these fields.
   *
   * @return null if it is malformed
   */
  @Nullable ResponseHead head(Fields fields) {
    AsciiString given = status;
    if (given == null || given.length() != STATUS_DIGITS) {
      return null;
    }
    int start = given.arrayOffset();
    int code = (int) Octets.decimal(given.array(), start, start + STATUS_DIGITS);
    return code < StatusCode.CONTINUE
            || code > StatusCode.GREATEST
            || code == StatusCode.SWITCHING_PROTOCOLS
        ? null
        : ResponseHead.of(code, fields);
  }
}
