package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** The socket below a connection. Confined to its loop. */
public interface H2Wire {

  ByteBufAllocator allocator();

  /** Queues octets; they leave at the end of this burst. Takes ownership. */
  void write(ByteBuf octets);

  /** Whether the other side takes what it is sent. */
  boolean isWritable();

  /** Whether so much waits for the other side that nothing more may be asked of us. */
  boolean isOverfull();
}
