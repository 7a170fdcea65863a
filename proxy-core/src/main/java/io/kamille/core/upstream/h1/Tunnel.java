package io.kamille.core.upstream.h1;

import io.kamille.core.content.ContentSink;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.failure.Failure;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import org.jspecify.annotations.Nullable;

/**
 * The way from the client to the origin after an upgrade (RFC 9110 §7.8): octets as they come.
 * Either side may fall silent before the other. Confined to its loop.
 */
final class Tunnel implements ContentSink {

  private final OriginConnection connection;
  private final Channel channel;
  private final RequestContent client;
  private boolean clientEnded;
  private boolean originEnded;
  private boolean paused;

  Tunnel(OriginConnection connection, Channel channel, RequestContent client) {
    this.connection = connection;
    this.channel = channel;
    this.client = client;
  }

  void open() {
    client.tunnel(this);
  }

  @Override
  public void write(ByteBuf chunk) {
    if (clientEnded) {
      chunk.release();
      return;
    }
    channel.write(chunk, channel.voidPromise());
    connection.sending();
    if (!channel.isWritable() && !paused) {
      paused = true;
      client.pause();
    }
  }

  /** The client has said all: the origin hears of it once the last octets are out. */
  @Override
  public void end(@Nullable Fields trailers) {
    if (clientEnded) {
      return;
    }
    clientEnded = true;
    if (originEnded) {
      connection.tunnelIsOver();
      return;
    }
    channel
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(written -> ((DuplexChannel) channel).shutdownOutput());
  }

  @Override
  public void abort(Failure why) {
    if (!clientEnded) {
      clientEnded = true;
      connection.tunnelIsOver();
    }
  }

  /** The origin has said all. */
  void originEnded() {
    originEnded = true;
    if (clientEnded) {
      connection.tunnelIsOver();
    }
  }

  /** The origin takes more again. */
  void resume() {
    if (paused) {
      paused = false;
      client.resume();
    }
  }

  /** The origin is gone: the client need not talk on. */
  void stop(Failure why) {
    if (!clientEnded) {
      clientEnded = true;
      client.cancel(why);
    }
  }
}
