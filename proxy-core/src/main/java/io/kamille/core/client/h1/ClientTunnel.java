package io.kamille.core.client.h1;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import org.jspecify.annotations.Nullable;

/**
 * What the client sends after a switch of protocols (RFC 9110 §7.8): octets as they come. Either
 * side may fall silent before the other. Confined to its loop.
 */
final class ClientTunnel {

  private @Nullable ContentSink sink;
  private boolean ended;

  /** Everything goes here from now on; false if the client has closed its side already. */
  boolean start(ContentSink sink) {
    if (!ended) {
      this.sink = sink;
    }
    return !ended;
  }

  /** Whether what comes has somewhere to go, be it nowhere. */
  boolean isStarted() {
    return sink != null || ended;
  }

  /** Whether somebody still waits for what the client sends. */
  boolean isOpen() {
    return sink != null && !ended;
  }

  /** Takes ownership. */
  void arrived(ByteBuf in) {
    if (sink == null || ended) {
      in.release();
    } else {
      sink.write(in);
    }
  }

  /** The client has said all. */
  void end() {
    ContentSink open = close();
    if (open != null) {
      open.end(null);
    }
  }

  /** The client is gone. */
  void abort(Failure why) {
    ContentSink open = close();
    if (open != null) {
      open.abort(why);
    }
  }

  /** Nobody wants to hear the client any more. */
  @Nullable ContentSink close() {
    ContentSink open = isOpen() ? sink : null;
    ended = true;
    return open;
  }

  /** The origin has said all: the client hears of it once the last octets are out. */
  static void endOutput(Channel channel) {
    channel
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(written -> ((DuplexChannel) channel).shutdownOutput());
  }
}
