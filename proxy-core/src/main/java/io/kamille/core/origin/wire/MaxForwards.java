package io.kamille.core.origin.wire;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;

/**
 * How many more gateways an OPTIONS may pass, and the answer where none is left (RFC 9110 §7.6.2).
 * It counts for TRACE too, which goes nowhere. Stateless; on the exchange's loop.
 */
public final class MaxForwards {

  private static final int MAX_DIGITS = 9;

  private MaxForwards() {}

  /** Whether the request ends here, at the gateway that it was meant to reach. */
  public static boolean isSpent(RequestHead request) {
    return request.fields().has(FieldName.MAX_FORWARDS) && of(request) == 0;
  }

  /** The number, or -1 where there is none that counts. */
  static int of(RequestHead request) {
    if (request.method() != Method.OPTIONS) {
      return -1;
    }
    String value = request.field(FieldName.MAX_FORWARDS);
    if (value == null || value.isEmpty() || value.length() > MAX_DIGITS) {
      return -1;
    }
    for (int i = 0; i < value.length(); i++) {
      if (value.charAt(i) < '0' || value.charAt(i) > '9') {
        return -1;
      }
    }
    return Integer.parseInt(value);
  }

  /** Answers as the final recipient, with nothing to add (RFC 9110 §9.3.7). */
  public static void answer(Exchange exchange) {
    Reply reply = exchange.reply();
    reply.head(ResponseHead.of(StatusCode.OK), 0);
    reply.end(null);
  }
}
