package io.kamille.cache.fill;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A chunk of content that readers take, each in its own time. Any thread. Each holder ends its hold
 * by {@link #release}; the last one makes room in the window, if it is of one.
 */
public final class SharedChunk {

  /** What a chunk takes beside its octets, roughly: the window bounds chunks of one octet too. */
  private static final int OVERHEAD_BYTES = 128;

  private final @Nullable ContentWindow window;
  private final byte[] octets;
  private final AtomicInteger holders;

  private SharedChunk(@Nullable ContentWindow window, byte[] octets, int holders) {
    this.window = window;
    this.octets = octets;
    this.holders = new AtomicInteger(holders);
  }

  /** A copy of a chunk, which it borrows, for so many holders. */
  static SharedChunk of(ContentWindow window, ByteBuf chunk, int holders) {
    return new SharedChunk(window, copy(chunk), holders);
  }

  /** A copy of a chunk for one reader, who holds it. Takes ownership of the chunk. */
  static SharedChunk unshared(ByteBuf chunk) {
    try {
      return new SharedChunk(null, copy(chunk), 1);
    } finally {
      chunk.release();
    }
  }

  private static byte[] copy(ByteBuf chunk) {
    byte[] octets = new byte[chunk.readableBytes()];
    chunk.getBytes(chunk.readerIndex(), octets);
    return octets;
  }

  /** What it takes of the window, in octets. */
  int occupiedBytes() {
    return octets.length + OVERHEAD_BYTES;
  }

  /** The content, for one reader; the caller owns it. */
  ByteBuf content() {
    return Unpooled.wrappedBuffer(octets);
  }

  /** How many hold it at this moment. */
  int holders() {
    return holders.get();
  }

  /** One more holder; the caller is one. */
  void retain() {
    int before = holders.getAndIncrement();
    assert before > 0;
  }

  /** Ends one hold. */
  public void release() {
    int left = holders.decrementAndGet();
    assert left >= 0;
    if (left == 0 && window != null) {
      window.freed(occupiedBytes());
    }
  }
}
