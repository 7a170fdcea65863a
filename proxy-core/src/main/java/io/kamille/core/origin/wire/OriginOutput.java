package io.kamille.core.origin.wire;

import io.kamille.core.tls.OriginTlsHandler;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;

/**
 * What goes to an origin: queued on the channel, and flushed at the end of the turn, or at once if
 * it is much. Confined to its loop.
 */
public final class OriginOutput {

  private final Channel channel;
  private final Runnable moved;
  private final Runnable flush = this::flush;
  private boolean flushPlanned;

  /** The output of {@code channel}; {@code moved} hears of octets queued. */
  OriginOutput(Channel channel, Runnable moved) {
    this.channel = channel;
    this.moved = moved;
  }

  /** For what is queued there without {@link #write}; {@link #queued} has to follow. */
  public Channel channel() {
    return channel;
  }

  /** Queues octets; {@link #queued} or {@link #flushSoon} has to follow. Takes ownership. */
  public void write(ByteBuf octets) {
    channel.write(octets, channel.voidPromise());
  }

  /** Sends octets now. Takes ownership. */
  public void writeAndFlush(ByteBuf octets) {
    channel.writeAndFlush(octets, channel.voidPromise());
  }

  /** Octets were queued: they leave at the end of the turn, or now if there are many. */
  public void queued() {
    moved.run();
    if (channel.isWritable()) {
      flushSoon();
    } else {
      channel.flush();
    }
  }

  public void flushSoon() {
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
  public boolean isWritable() {
    return channel.isWritable();
  }

  /**
   * Closes our side once all that is queued is with the kernel or lost; then calls {@code ended}.
   */
  public void end(Runnable ended) {
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
