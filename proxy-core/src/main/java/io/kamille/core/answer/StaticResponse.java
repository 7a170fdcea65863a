package io.kamille.core.answer;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.Unpooled;

/** Answers every request alike. Any thread. */
public final class StaticResponse implements ExchangeHandler {

  private final ResponseSettings settings;
  private final byte[] body;

  /** Answers as the settings say, with this body. */
  public StaticResponse(ResponseSettings settings, byte[] body) {
    this.settings = settings;
    this.body = body.clone();
  }

  @Override
  public void handle(Exchange exchange) {
    ResponseHead head = ResponseHead.of(settings.status(), "Cache-Control", "no-store");
    if (body.length > 0) {
      head.fields().add("Content-Type", settings.type());
    }
    Reply reply = exchange.reply();
    reply.head(head, body.length);
    if (exchange.request().method() != Method.HEAD && body.length > 0) {
      reply.write(Unpooled.wrappedBuffer(body));
    }
    reply.end(null);
  }
}
