package io.kamille.admin;

import io.kamille.admin.api.Answer;
import io.kamille.core.http.HttpDate;
import io.kamille.core.loop.WallClock;
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
import io.netty.util.AttributeKey;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;

/**
 * The connections that read server-sent events. Everybody gets the same events; who does not read
 * them misses some, and is closed in the end; who is no longer let in is closed before the next
 * event. Confined to the loop, but for {@link #publish}.
 */
final class LiveStreams {

  /*
   * An event is encoded once, as a chunk (RFC 9112 §7.1): 32 streams must not cost what 32 answers
   * cost. So a stream has no encoder behind its first answer, and no time limit for answers. One
   * whose client did not take an event in a minute is closed here.
   */
  private static final int LIMIT = 32;
  private static final int MOST_MISSED = 60;
  private static final int CR_LF = 0x0D0A;
  private static final AttributeKey<Integer> MISSED = AttributeKey.valueOf("kamille.missed");
  private static final AttributeKey<BooleanSupplier> LET_IN =
      AttributeKey.valueOf("kamille.let-in");

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

  /**
   * Begins a stream with what {@code first} says.
   *
   * @param isLetIn whether its reader still is; each {@link #publish} asks
   */
  void open(ChannelHandlerContext context, Answer first, BooleanSupplier isLetIn) {
    HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    head.headers()
        .set(HttpHeaderNames.DATE, HttpDate.format(clock.epochSeconds()))
        .set(HttpHeaderNames.CONTENT_TYPE, Answer.EVENT_STREAM)
        .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
        .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
        .set("X-Content-Type-Options", "nosniff");
    context.write(head);
    context.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(first.content())));
    Channel stream = context.channel();
    stream.attr(MISSED).set(0);
    stream.attr(LET_IN).set(isLetIn);
    streams.add(stream);
  }

  /** Whether anybody may get an event. Any thread. */
  boolean isAny() {
    return !streams.isEmpty();
  }

  /** Sends an event to everybody who is let in and keeps up. Any thread. */
  void publish(String name, String data) {
    for (Channel stream : streams) {
      if (!stream.attr(LET_IN).get().getAsBoolean()) {
        stream.close();
      }
    }
    byte[] event =
        ("event: " + name + "\ndata: " + data.strip() + "\n\n").getBytes(StandardCharsets.UTF_8);
    byte[] size = (Integer.toHexString(event.length) + "\r\n").getBytes(StandardCharsets.US_ASCII);
    ByteBuf chunk = Unpooled.buffer(size.length + event.length + 2);
    chunk.writeBytes(size).writeBytes(event).writeShort(CR_LF);
    loop.execute(() -> send(chunk.array()));
  }

  private void send(byte[] chunk) {
    for (Channel stream : streams) {
      if (stream.isWritable()) {
        stream.attr(MISSED).set(0);
        stream.writeAndFlush(Unpooled.wrappedBuffer(chunk));
      } else {
        int missed = stream.attr(MISSED).get() + 1;
        stream.attr(MISSED).set(missed);
        if (missed > MOST_MISSED) {
          stream.close();
        }
      }
    }
  }
}
