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
   * A chunk is a slice of what one read brought. Small ones are copied together: otherwise each
   * would keep a buffer of many times its size.
   */
  private static final int COPIED_BYTES = 1024;
  private static final int BUFFER_BYTES = 4 * COPIED_BYTES;

  private final ArrayDeque<ByteBuf> chunks = new ArrayDeque<>(4);

  boolean isEmpty() {
    return chunks.isEmpty();
  }

  /** Takes ownership. */
  void add(ByteBuf chunk) {
    int length = chunk.readableBytes();
    if (length >= COPIED_BYTES) {
      chunks.addLast(chunk);
      return;
    }
    ByteBuf last = chunks.peekLast();
    if (last == null || last.maxCapacity() != BUFFER_BYTES || last.writableBytes() < length) {
      last = chunk.alloc().directBuffer(BUFFER_BYTES, BUFFER_BYTES);
      chunks.addLast(last);
    }
    last.writeBytes(chunk);
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
