package io.kamille.core.socket;

import io.kamille.core.content.Leased;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;

/** Counts what waits in a channel for the kernel to take it. Confined to its loop. */
final class WaitingOctets implements ChannelOutboundBuffer.MessageProcessor {

  private long buffered;
  private long leased;
  private long inFiles;

  /** Counts anew what {@code channel} was told to flush. */
  void count(Channel channel) {
    buffered = 0;
    leased = 0;
    inFiles = 0;
    ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
    if (waiting == null || waiting.isEmpty()) {
      return;
    }
    try {
      waiting.forEachFlushedMessage(this);
    } catch (Exception impossible) {
      throw new ChannelException(impossible);
    }
  }

  @Override
  public boolean processMessage(Object message) {
    switch (message) {
      case FileRegion region -> inFiles += region.count() - region.transferred();
      case Leased octets -> leased += octets.waitingBytes();
      case ByteBuf octets -> buffered += octets.readableBytes();
      default -> {}
    }
    return true;
  }

  boolean isNone() {
    return buffered + leased + inFiles == 0;
  }

  /** Octets in memory of their own. */
  long buffered() {
    return buffered;
  }

  /** Octets in the store's memory. */
  long leased() {
    return leased;
  }

  /** Octets of files. */
  long inFiles() {
    return inFiles;
  }
}
