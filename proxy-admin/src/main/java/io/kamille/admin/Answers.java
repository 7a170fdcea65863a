package io.kamille.admin;

import io.kamille.admin.api.Answer;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.StatusCode;
import io.kamille.core.time.WallClock;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.concurrent.TimeUnit;

/** Writes answers to connections. Confined to its loop. */
final class Answers {

  private static final long LINGER_MILLIS = 1000;

  private final WallClock clock;

  Answers(WallClock clock) {
    this.clock = clock;
  }

  /** Writes an answer after which the next request may come. */
  void write(ChannelHandlerContext context, Answer answer, HttpVersion version) {
    FullHttpResponse response = response(answer);
    if (version.equals(HttpVersion.HTTP_1_0)) {
      response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
    context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
  }

  /**
   * Writes an answer and closes: our side at once, the connection when the client has closed its
   * own or after a second, so that what it still sends does not destroy the answer (RFC 9112 §9.6).
   */
  void writeLast(ChannelHandlerContext context, Answer answer) {
    FullHttpResponse response = response(answer);
    response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    context.writeAndFlush(response).addListener(_ -> linger(context));
  }

  private static void linger(ChannelHandlerContext context) {
    ((DuplexChannel) context.channel()).shutdownOutput();
    context.executor().schedule(() -> context.close(), LINGER_MILLIS, TimeUnit.MILLISECONDS);
  }

  private FullHttpResponse response(Answer answer) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            Unpooled.wrappedBuffer(answer.content()));
    HttpHeaders fields = response.headers();
    fields.set(HttpHeaderNames.DATE, HttpDate.format(clock.epochSeconds()));
    if (answer.status() != StatusCode.NO_CONTENT) {
      fields.set(HttpHeaderNames.CONTENT_TYPE, answer.contentType());
      fields.set(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes());
    }
    fields.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
    fields.set("X-Content-Type-Options", "nosniff");
    answer.fields().forEach(fields::set);
    return response;
  }
}
