package io.kamille.perf.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * Content without end that origin and client make alike from the number of an object and of its
 * version; an object has the beginning of it. Any thread.
 *
 * @param isText whether it is text that shrinks when it is compressed
 * @param start where in the block it begins
 */
public record MadeContent(boolean isText, int start) {

  /*
   * One block of random octets, read round and round from a place that object and version decide:
   * nothing is kept of an object, and sending or comparing it copies nothing. The length of the
   * block is a prime, so that a server that mixes up buffers, whose lengths are powers of two, does
   * not find the same octets a whole turn away.
   */

  private static final int BLOCK_LENGTH = 1_000_003;
  private static final long BLOCK_SEED = 0x4b616d696c6c65L;
  private static final int LETTERS = 16;
  private static final int WRITE_BYTES = 8 * 1024;
  private static final ByteBuffer BLOCK = makeBlock();
  private static final ByteBuffer TEXT = makeText();
  private static final ByteBuf SHARED = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(BLOCK));

  private static ByteBuffer makeBlock() {
    byte[] octets = new byte[BLOCK_LENGTH];
    new SplittableRandom(BLOCK_SEED).nextBytes(octets);
    return ByteBuffer.allocateDirect(BLOCK_LENGTH).put(octets).flip();
  }

  private static ByteBuffer makeText() {
    ByteBuffer text = ByteBuffer.allocateDirect(BLOCK_LENGTH);
    for (int i = 0; i < BLOCK_LENGTH; i++) {
      text.put((byte) ('a' + (BLOCK.get(i) & (LETTERS - 1))));
    }
    return text.flip();
  }

  /** The content of an object without versions: any octets. */
  static MadeContent of(long object) {
    return of(false, object, 0);
  }

  /** The content of that version of an object. */
  public static MadeContent of(boolean isText, long object, long version) {
    long mixed = mix(object) ^ mix(~version);
    return new MadeContent(isText, (int) Long.remainderUnsigned(mix(mixed), BLOCK_LENGTH));
  }

  /** The finalizer of SplitMix64 (Steele, Lea, Flood, 2014), which scatters neighbours. */
  static long mix(long value) {
    long z = value + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** The block, for {@link #matches}: a view for one thread. */
  static ByteBuffer block() {
    return BLOCK.duplicate();
  }

  /** Whether all that is left in {@code octets} stands here from {@code offset} on. */
  boolean matches(ByteBuffer block, int offset, ByteBuffer octets) {
    int begin = octets.position();
    int end = octets.limit();
    int place = place(offset);
    boolean isRight = true;
    while (isRight && octets.hasRemaining()) {
      int count = Math.min(octets.remaining(), BLOCK_LENGTH - place);
      block.limit(place + count).position(place);
      octets.limit(octets.position() + count);
      isRight = block.mismatch(octets) < 0;
      octets.position(octets.limit()).limit(end);
      place = 0;
    }
    octets.limit(end).position(begin);
    return isRight;
  }

  /** At most {@code length} octets from {@code offset} on, fewer at the end of the block. */
  ByteBuf slice(int offset, int length) {
    int place = place(offset);
    return SHARED.slice(place, Math.min(length, BLOCK_LENGTH - place));
  }

  /** Writes {@code count} octets from {@code offset} on. */
  public void write(OutputStream out, int offset, int count) throws IOException {
    byte[] octets = new byte[Math.min(count, WRITE_BYTES)];
    for (int written = 0; written < count; ) {
      int place = place(offset + written);
      int length = Math.min(Math.min(count - written, octets.length), BLOCK_LENGTH - place);
      (isText ? TEXT : BLOCK).get(place, octets, 0, length);
      out.write(octets, 0, length);
      written += length;
    }
  }

  /** Whether all that is left in {@code octets} stands here from {@code offset} on. */
  public boolean matches(int offset, ByteBuffer octets) {
    return matches((isText ? TEXT : BLOCK).duplicate(), offset, octets);
  }

  private int place(int offset) {
    return (int) (((long) start + offset) % BLOCK_LENGTH);
  }
}
