package io.kamille.core.upstream.h1;

import io.kamille.core.tls.OriginTlsHandler;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;

/**
 * What goes to an origin: queued on the channel, and flushed at the end of the turn, or at once if
 * it is much. Confined to its loop.
 */
final class OriginOutput {

  private final Channel channel;
  private final OriginDeadlines deadlines;
  private final Runnable flush = this::flush;
  private boolean flushPlanned;

  /** The output of {@code channel}; {@code deadlines} hear that something moved. */
  OriginOutput(Channel channel, OriginDeadlines deadlines) {
    this.channel = channel;
    this.deadlines = deadlines;
  }

  /** For what is queued there without {@link #write}; {@link #queued} has to follow. */
  Channel channel() {
    return channel;
  }

  /** Queues octets; {@link #queued} or {@link #flushSoon} has to follow. Takes ownership. */
  void write(ByteBuf octets) {
    channel.write(octets, channel.voidPromise());
  }

  /** Sends octets now. Takes ownership. */
  void writeAndFlush(ByteBuf octets) {
    channel.writeAndFlush(octets, channel.voidPromise());
  }

  /** Octets were queued: they leave at the end of the turn, or now if there are many. */
  void queued() {
    deadlines.moved();
    if (channel.isWritable()) {
      flushSoon();
    } else {
      channel.flush();
    }
  }

  void flushSoon() {
    if (!flushPlanned) {
      flushPlanned = true;
      channel.eventLoop().execute(flush);
    }
  }

  private void flush() {
    flushPlanned = false;
    channel.flush();
  }

  /** Whether the origin takes what it is sent. */
  boolean isWritable() {
    return channel.isWritable();
  }

  /**
   * Closes our side once all that is queued is with the kernel or lost; then calls {@code ended}.
   */
  void end(Runnable ended) {
    channel
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(
            written -> {
              OriginTlsHandler tls = channel.pipeline().get(OriginTlsHandler.class);
              if (tls == null) {
                ((DuplexChannel) channel).shutdownOutput();
              } else {
                tls.closeOutbound();
              }
              ended.run();
            });
  }
}
