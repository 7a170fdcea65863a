package io.kamille.core.socket;

import io.kamille.core.socket.TcpSamples.Waiting;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import java.util.function.Consumer;

/** Counts what waits in a channel, and in front of it, for the kernel. Confined to its loop. */
final class WaitingOctets implements ChannelOutboundBuffer.MessageProcessor {

  private long buffered;
  private long leased;
  private long inFiles;

  /** What {@code channel} was told to flush, and what its owner keeps back. */
  Waiting count(Channel channel, Consumer<Consumer<ByteBuf>> keptBack) {
    buffered = 0;
    leased = 0;
    inFiles = 0;
    keptBack.accept(this::add);
    ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
    try {
      if (waiting != null && !waiting.isEmpty()) {
        waiting.forEachFlushedMessage(this);
      }
    } catch (Exception impossible) {
      throw new ChannelException(impossible);
    }
    return buffered + leased + inFiles == 0 ? Waiting.NONE : new Waiting(buffered, leased, inFiles);
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
}
