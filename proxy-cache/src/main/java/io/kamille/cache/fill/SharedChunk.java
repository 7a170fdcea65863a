package io.kamille.cache.fill;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A chunk of content that several readers take, each in its own time. Any thread. Each holder ends
 * its hold by {@link #release}; the last one makes room in the window.
 */
public final class SharedChunk {

  /** What a chunk takes beside its octets, roughly: the window bounds chunks of one octet too. */
  private static final int OVERHEAD_BYTES = 128;

  private final ContentWindow window;
  private final byte[] octets;
  private final AtomicInteger holders;

  SharedChunk(ContentWindow window, byte[] octets, int holders) {
    this.window = window;
    this.octets = octets;
    this.holders = new AtomicInteger(holders);
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
    if (left == 0) {
      window.freed(occupiedBytes());
    }
  }
}
