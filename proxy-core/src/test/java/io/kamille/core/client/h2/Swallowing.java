package io.kamille.core.client.h2;

import io.kamille.core.client.h1.TestServer;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Takes the content of a request, and answers once it is complete. */
record Swallowing(Exchange exchange) implements ContentSink {

  @Override
  public void write(ByteBuf chunk) {
    chunk.release();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    TestServer.stored(exchange, "taken");
  }

  @Override
  public void abort(Failure why) {}
}
