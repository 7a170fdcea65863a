package io.kamille.admin;

import io.kamille.admin.api.Answer;
import io.kamille.core.http.HttpDate;
import io.kamille.core.time.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;

/**
 * The connections that read server-sent events. Everybody gets the same events; who does not read
 * them misses some, and is closed in the end. Confined to the loop, but for {@link #publish}.
 */
final class LiveStreams {

  private static final int LIMIT = 32;

  private final EventLoop loop;
  private final WallClock clock;
  private final ChannelGroup streams;

  LiveStreams(EventLoop loop, WallClock clock) {
    this.loop = loop;
    this.clock = clock;
    this.streams = new DefaultChannelGroup(loop);
  }

  /** Whether no further stream can be opened. */
  boolean isFull() {
    return streams.size() >= LIMIT;
  }

  /** Begins a stream with what {@code first} says. */
  void open(ChannelHandlerContext context, Answer first) {
    HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    head.headers()
        .set(HttpHeaderNames.DATE, HttpDate.format(clock.epochSeconds()))
        .set(HttpHeaderNames.CONTENT_TYPE, Answer.EVENT_STREAM)
        .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
        .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
        .set("X-Content-Type-Options", "nosniff");
    context.write(head);
    context.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(first.content())));
    streams.add(context.channel());
  }

  /** Sends an event to everybody who keeps up. Any thread. */
  void publish(String name, String data) {
    byte[] event =
        ("event: " + name + "\ndata: " + data.strip() + "\n\n").getBytes(StandardCharsets.UTF_8);
    loop.execute(() -> send(event));
  }

  private void send(byte[] event) {
    for (Channel stream : streams) {
      if (stream.isWritable()) {
        ByteBuf octets = Unpooled.wrappedBuffer(event);
        stream.writeAndFlush(new DefaultHttpContent(octets));
      }
    }
  }
}
