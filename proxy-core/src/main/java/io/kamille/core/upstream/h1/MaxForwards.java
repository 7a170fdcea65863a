package io.kamille.core.upstream.h1;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/**
 * How many more gateways a TRACE or OPTIONS may pass, and the answer where none is left (RFC 9110
 * §7.6.2). Stateless; on the exchange's loop.
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
    if (request.method() != Method.TRACE && request.method() != Method.OPTIONS) {
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

  /** Answers as the final recipient: OPTIONS with nothing to add, TRACE with what came (§9.3.8). */
  public static void answer(Exchange exchange) {
    RequestHead request = exchange.request();
    Reply reply = exchange.reply();
    if (request.method() == Method.OPTIONS) {
      reply.head(ResponseHead.of(StatusCode.OK), 0);
      reply.end(null);
      return;
    }
    byte[] seen = seen(request).getBytes(StandardCharsets.ISO_8859_1);
    reply.head(ResponseHead.of(StatusCode.OK, "Content-Type", "message/http"), seen.length);
    reply.write(Unpooled.wrappedBuffer(seen));
    reply.end(null);
  }

  /** The request as we saw it, without what is secret. */
  private static String seen(RequestHead request) {
    StringBuilder text = new StringBuilder();
    text.append("TRACE ").append(request.target()).append(" HTTP/1.");
    text.append(request.minorVersion()).append("\r\n");
    Fields fields = request.fields();
    for (int i = 0; i < fields.size(); i++) {
      FieldName name = fields.knownAt(i);
      boolean secret =
          name == FieldName.AUTHORIZATION
              || name == FieldName.PROXY_AUTHORIZATION
              || name == FieldName.COOKIE;
      if (!secret) {
        text.append(fields.nameAt(i)).append(": ").append(fields.valueAt(i)).append("\r\n");
      }
    }
    return text.append("\r\n").toString();
  }
}
