package io.kamille.core.socket;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;

/** Counts what waits in a channel, and in front of it, for the kernel. Confined to its loop. */
final class WaitingOctets implements ChannelOutboundBuffer.MessageProcessor {

  private long buffered;
  private long leased;
  private long inFiles;

  /** Counts anew what {@code channel} was told to flush, and what its owner keeps back. */
  void count(Channel channel, KeptBack keptBack) {
    buffered = 0;
    leased = 0;
    inFiles = 0;
    keptBack.forEach(this::add);
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
      case ByteBuf octets -> add(octets);
      default -> {}
    }
    return true;
  }

  /** A slice of leased memory is leased, too. */
  private void add(ByteBuf octets) {
    ByteBuf memory = octets;
    while (memory.unwrap() != null) {
      memory = memory.unwrap();
    }
    if (memory instanceof Leased) {
      leased += octets.readableBytes();
    } else {
      buffered += octets.readableBytes();
    }
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
