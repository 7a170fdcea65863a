package io.kamille.core.origin.wire.h2;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Content that came while nobody takes any; the window of its stream bounds it. Confined to its
 * loop.
 */
final class HeldContent {

  /*
   * A chunk is a slice of what one read brought, and would keep a buffer of many times its size. So
   * all are copied, small ones together: what is held here is no more than the window allows.
   */
  private static final int LEAST_BYTES = 4096;

  private final ArrayDeque<ByteBuf> chunks = new ArrayDeque<>(4);

  boolean isEmpty() {
    return chunks.isEmpty();
  }

  /** Takes ownership. */
  void add(ByteBuf chunk) {
    while (chunk.isReadable()) {
      ByteBuf last = chunks.peekLast();
      if (last == null || !last.isWritable()) {
        int bytes = Math.max(LEAST_BYTES, chunk.readableBytes());
        last = chunk.alloc().directBuffer(bytes, bytes);
        chunks.addLast(last);
      }
      last.writeBytes(chunk, Math.min(chunk.readableBytes(), last.writableBytes()));
    }
    chunk.release();
  }

  /** The oldest. Gives ownership; null if there is none. */
  @Nullable ByteBuf poll() {
    return chunks.pollFirst();
  }

  void release() {
    chunks.forEach(ByteBuf::release);
    chunks.clear();
  }
}
