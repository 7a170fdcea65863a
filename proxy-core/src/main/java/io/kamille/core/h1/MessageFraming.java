package io.kamille.core.h1;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
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

  private static final long FAULT = -1;
  private static final String NOT_CHUNKED_ALONE = "a Transfer-Encoding that is not exactly chunked";
  private static final long FRAMING =
      Fields.mask(FieldName.CONTENT_LENGTH, FieldName.TRANSFER_ENCODING);

  private MessageFraming() {}

  /** What is wrong with the framing fields of a request, or null. */
  static @Nullable Failure fault(RequestHead head) {
    String fault = fault(head.fields(), head.minorVersion());
    if (fault == null) {
      return null;
    }
    // With chunked at the end we know where the content ends but not how to read it (§6.1, §6.3).
    return fault.equals(NOT_CHUNKED_ALONE) && endsInChunked(head.fields())
        ? Failure.request(StatusCode.NOT_IMPLEMENTED, "a transfer coding besides chunked")
        : Failure.request(StatusCode.BAD_REQUEST, fault);
  }

  /** What is wrong with the framing fields of a response, or null. */
  static @Nullable Failure fault(ResponseHead head) {
    String fault = fault(head.fields(), head.minorVersion());
    return fault == null ? null : Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, fault);
  }

  private static @Nullable String fault(Fields fields, int minorVersion) {
    if (!fields.hasAny(FRAMING)) {
      return null;
    }
    int coding = fields.indexOf(FieldName.TRANSFER_ENCODING);
    if (coding < 0) {
      return length(fields) == FAULT ? "a Content-Length that is not one number" : null;
    }
    if (minorVersion == 0) {
      return "Transfer-Encoding in HTTP/1.0";
    }
    if (fields.has(FieldName.CONTENT_LENGTH)) {
      return "both Content-Length and Transfer-Encoding";
    }
    return isChunkedAlone(fields, coding) ? null : NOT_CHUNKED_ALONE;
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
    return endsWithHead(head, method) ? 0 : declared(head);
  }

  /**
   * Whether a response is over with its head, whatever its fields say (§6.3, item 1): then nothing
   * in them can be a fault.
   */
  static boolean endsWithHead(ResponseHead head, Method method) {
    return method == Method.HEAD || StatusCode.hasNoContent(head.status());
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
    return fields.indexOf(FieldName.CONTENT_LENGTH, line + 1) >= 0
        ? FAULT
        : Octets.decimal(fields.octets(), fields.valueStart(line), fields.valueEnd(line));
  }
}
