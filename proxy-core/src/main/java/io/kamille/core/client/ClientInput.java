package io.kamille.core.client;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * What a client has sent and nobody has taken yet, and whether it is read from. Confined to its
 * loop.
 */
public final class ClientInput {

  private final Channel channel;
  private @Nullable ByteBuf waiting;
  private boolean paused;

  /** The input of {@code channel}. */
  public ClientInput(Channel channel) {
    this.channel = channel;
  }

  /** What waited, and {@code in} behind it. Takes ownership, gives ownership. */
  public ByteBuf takeWith(ByteBuf in) {
    ByteBuf before = waiting;
    if (before == null) {
      return in;
    }
    waiting = null;
    return joined(before, in);
  }

  /**
   * Octets that waited and those behind them. Room is doubled: once a client has closed its side,
   * epoll delivers all that the kernel holds, whether we read or not. Takes ownership of both.
   */
  private static ByteBuf joined(ByteBuf before, ByteBuf behind) {
    ByteBuf joined = before;
    if (before.writableBytes() < behind.readableBytes()) {
      int length = before.readableBytes() + behind.readableBytes();
      joined = before.alloc().directBuffer(2 * length).writeBytes(before);
      before.release();
    }
    joined.writeBytes(behind);
    behind.release();
    return joined;
  }

  /** Keeps what nobody takes now, and reads no more. Takes ownership. */
  public void keep(ByteBuf in) {
    waiting = in;
    readMore(false);
  }

  /** What waited, or null. Gives ownership. */
  public @Nullable ByteBuf take() {
    ByteBuf taken = waiting;
    waiting = null;
    return taken;
  }

  /** Whether nothing waits. */
  public boolean isEmpty() {
    return waiting == null;
  }

  /** Drops what waits. */
  public void release() {
    if (waiting != null) {
      waiting.release();
      waiting = null;
    }
  }

  /** Whether the client may send more now. */
  public void readMore(boolean wanted) {
    if (paused == wanted && channel.isOpen()) {
      paused = !wanted;
      channel.config().setAutoRead(wanted);
    }
  }

  /** Whether the client is not read from. */
  public boolean isPaused() {
    return paused;
  }
}
