package io.kamille.core.h1;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * Where the content of a message ends (RFC 9112 §6). Stateless; any thread.
 *
 * <p>There is one reading of every message: what could be read in two ways is a fault.
 */
public final class MessageFraming {

  /** The content is chunked (RFC 9112 §7.1). */
  public static final long CHUNKED = -2;

  /** The content goes on until the connection closes (§6.3, item 8). */
  public static final long UNTIL_CLOSE = -3;

  private static final long FAULT = -4;
  private static final int MAX_DIGITS = 18;
  private static final long FRAMING =
      Fields.mask(FieldName.CONTENT_LENGTH, FieldName.TRANSFER_ENCODING);

  private MessageFraming() {}

  /** What is wrong with the framing fields of a request, or null. */
  static @Nullable Failure fault(RequestHead head) {
    Fields fields = head.fields();
    if (!fields.hasAny(FRAMING)) {
      return null;
    }
    int coding = fields.indexOf(FieldName.TRANSFER_ENCODING);
    if (coding < 0) {
      return length(fields) == FAULT
          ? Failure.request(StatusCode.BAD_REQUEST, "a Content-Length that is not one number")
          : null;
    }
    if (head.minorVersion() == 0) {
      return Failure.request(StatusCode.BAD_REQUEST, "Transfer-Encoding in HTTP/1.0");
    }
    if (fields.has(FieldName.CONTENT_LENGTH)) {
      return Failure.request(StatusCode.BAD_REQUEST, "both Content-Length and Transfer-Encoding");
    }
    if (isChunkedAlone(fields, coding)) {
      return null;
    }
    // With chunked at the end we know where the content ends but not how to read it (§6.1, §6.3).
    return endsInChunked(fields)
        ? Failure.request(StatusCode.NOT_IMPLEMENTED, "a transfer coding besides chunked")
        : Failure.request(
            StatusCode.BAD_REQUEST, "a Transfer-Encoding that does not end in chunked");
  }

  /** What is wrong with the framing fields of a response, or null. */
  static @Nullable Failure fault(ResponseHead head) {
    Fields fields = head.fields();
    if (!fields.hasAny(FRAMING)) {
      return null;
    }
    int coding = fields.indexOf(FieldName.TRANSFER_ENCODING);
    if (coding < 0) {
      return length(fields) == FAULT ? origin("a Content-Length that is not one number") : null;
    }
    if (head.minorVersion() == 0) {
      return origin("Transfer-Encoding in HTTP/1.0");
    }
    if (fields.has(FieldName.CONTENT_LENGTH)) {
      return origin("both Content-Length and Transfer-Encoding");
    }
    return isChunkedAlone(fields, coding)
        ? null
        : origin("a Transfer-Encoding that is not exactly chunked");
  }

  /** Content of a request that has no fault: octets, 0 for none, or {@link #CHUNKED}. */
  public static long of(RequestHead head) {
    Fields fields = head.fields();
    if (!fields.hasAny(FRAMING)) {
      return 0;
    }
    return fields.has(FieldName.TRANSFER_ENCODING) ? CHUNKED : length(fields);
  }

  /**
   * Content of a response that has no fault: octets, {@link #CHUNKED} or {@link #UNTIL_CLOSE}.
   *
   * @param method of the request it answers
   */
  public static long of(ResponseHead head, Method method) {
    if (method == Method.HEAD || StatusCode.hasNoContent(head.status())) {
      return 0;
    }
    return declared(head);
  }

  /**
   * The length that a response states, whether content follows or not: octets, {@link #CHUNKED} or
   * {@link #UNTIL_CLOSE}.
   */
  public static long declared(ResponseHead head) {
    Fields fields = head.fields();
    if (fields.has(FieldName.TRANSFER_ENCODING)) {
      return CHUNKED;
    }
    return fields.has(FieldName.CONTENT_LENGTH) ? length(fields) : UNTIL_CLOSE;
  }

  private static Failure origin(String reason) {
    return Failure.of(Kind.HTTP_PROTOCOL_ERROR, reason);
  }

  private static boolean isChunkedAlone(Fields fields, int line) {
    return fields.indexOf(FieldName.TRANSFER_ENCODING, line + 1) < 0
        && Octets.equalsIgnoreCase(
            fields.octets(), fields.valueStart(line), fields.valueEnd(line), "chunked");
  }

  private static boolean endsInChunked(Fields fields) {
    String codings = fields.joined(FieldName.TRANSFER_ENCODING);
    return codings != null
        && codings.substring(codings.lastIndexOf(',') + 1).strip().equalsIgnoreCase("chunked");
  }

  private static long length(Fields fields) {
    int line = fields.indexOf(FieldName.CONTENT_LENGTH);
    int start = fields.valueStart(line);
    int end = fields.valueEnd(line);
    if (start == end
        || end - start > MAX_DIGITS
        || fields.indexOf(FieldName.CONTENT_LENGTH, line + 1) >= 0) {
      return FAULT;
    }
    long length = 0;
    for (int i = start; i < end; i++) {
      byte octet = fields.octets()[i];
      if (!Octets.isDigit(octet)) {
        return FAULT;
      }
      length = length * 10 + (octet - '0');
    }
    return length;
  }
}
