package io.kamille.cache.tiers;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * What lies where in the memory that one process gives the next: the head of that list, and who
 * writes and reads all of it.
 *
 * @param capacityBytes of the arena
 * @param generation how many processes had the arena before the reader
 * @param secret of the cache keys, in its words
 * @param keys how many follow
 * @param bodyBytes octets behind the head
 * @param checksum CRC-32C of the body and, behind it, of the head up to the checksum
 */
record Manifest(
    long capacityBytes, long generation, String secret, long keys, long bodyBytes, int checksum) {

  /*
   * head   magic 8 | version 4 | granule 4 | capacity 8 | generation 8 | secret 32 | keys 8
   *        | body length 8 | checksum 4
   * body   granted blocks, then keys
   * blocks number 4 | block 8 each
   * key    128 bits 16 | variants 1 | each variant
   * variant
   *        flags 1 | octets | head length 4 | checksum of the head 4 | facts length 4 | facts
   *        | if content lies apart: octets | offset 8
   * octets length 8 | hits 4 | blocks
   *
   * The version stands for all of this, for the facts (FactsCodec) and for what the octets mean
   * (StoredResponse). It changes with each of them. The head is written last.
   */
  static final int VERSION = 1;

  static final int LENGTH = 84;
  static final int CHECKED_LENGTH = LENGTH - Integer.BYTES;
  static final int IS_COPIED = 1;
  static final int IS_CONTENT_APART = 2;
  static final int VARIANTS_LIMIT = 16;
  static final int FACTS_LIMIT = 1 << 20;
  static final int HEAD_LIMIT = 1 << 24;
  static final int GRANULE_BYTES = 64;

  private static final long MAGIC = 0x4b_61_6d_69_4d_65_6d_0aL;
  private static final int SECRET_DIGITS = 32;
  private static final int STEP_BYTES = 1 << 20;

  byte[] encode() {
    ByteBuf out = Unpooled.buffer(LENGTH);
    out.writeLong(MAGIC).writeInt(VERSION).writeInt(GRANULE_BYTES);
    out.writeLong(capacityBytes).writeLong(generation);
    out.writeCharSequence(secret, StandardCharsets.US_ASCII);
    out.writeLong(keys).writeLong(bodyBytes).writeInt(checksum);
    return out.array();
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @throws IOException if it is something else
   */
  static Manifest decode(byte[] octets) throws IOException {
    ByteBuf in = Unpooled.wrappedBuffer(octets);
    if (in.readLong() != MAGIC) {
      throw new IOException("its list of responses is not finished, or none");
    }
    int version = in.readInt();
    int granule = in.readInt();
    if (version != VERSION || granule != GRANULE_BYTES) {
      throw new IOException("its list is of version " + version + ", and not " + VERSION);
    }
    return new Manifest(
        in.readLong(),
        in.readLong(),
        in.readCharSequence(SECRET_DIGITS, StandardCharsets.US_ASCII).toString(),
        in.readLong(),
        in.readLong(),
        in.readInt());
  }

  /** Writes a manifest, its head last. One thread. */
  static final class Output {

    private final FileChannel channel;
    private final CRC32C checksum = new CRC32C();
    private final ByteBuf waiting = Unpooled.buffer(STEP_BYTES);
    private long position = LENGTH;

    Output(FileChannel channel) {
      this.channel = channel;
    }

    /** Where to append; what is there goes to the file by {@link #step}. */
    ByteBuf buffer() {
      return waiting;
    }

    /** Writes what waits, if it is much. */
    void step() throws IOException {
      if (waiting.readableBytes() >= STEP_BYTES) {
        flush();
      }
    }

    private void flush() throws IOException {
      ByteBuffer octets = waiting.nioBuffer();
      checksum.update(octets.duplicate());
      position += write(octets, position);
      waiting.clear();
    }

    private long write(ByteBuffer octets, long at) throws IOException {
      int written = 0;
      while (octets.hasRemaining()) {
        written += channel.write(octets, at + written);
      }
      return written;
    }

    void finish(long capacityBytes, long generation, String secret, long keys) throws IOException {
      flush();
      long bodyBytes = position - LENGTH;
      Manifest head = new Manifest(capacityBytes, generation, secret, keys, bodyBytes, 0);
      checksum.update(head.encode(), 0, CHECKED_LENGTH);
      int sum = (int) checksum.getValue();
      Manifest checked = new Manifest(capacityBytes, generation, secret, keys, bodyBytes, sum);
      write(ByteBuffer.wrap(checked.encode()), 0);
    }
  }

  /**
   * Reads a manifest whose length and checksum are right, and never more than it says. One thread.
   */
  static final class Input {

    private final FileChannel channel;
    private final Manifest head;
    private final long end;
    private long position = LENGTH;
    private ByteBuf read = Unpooled.EMPTY_BUFFER;

    private Input(FileChannel channel, Manifest head) {
      this.channel = channel;
      this.head = head;
      end = LENGTH + head.bodyBytes();
    }

    /**
     * Begins to read.
     *
     * @throws IOException if it is short, or damaged, or of another version
     */
    static Input open(FileChannel channel) throws IOException {
      long size = channel.size();
      if (size < LENGTH) {
        throw new IOException("its list of responses is short");
      }
      byte[] octets = new byte[LENGTH];
      readFully(channel, ByteBuffer.wrap(octets), 0);
      Manifest head = decode(octets);
      if (head.bodyBytes() != size - LENGTH) {
        throw new IOException("its list of responses is short");
      }
      CRC32C checksum = new CRC32C();
      ByteBuffer step = ByteBuffer.allocate(STEP_BYTES);
      for (long at = LENGTH; at < size; at += step.limit()) {
        step.clear().limit((int) Math.min(STEP_BYTES, size - at));
        readFully(channel, step, at);
        checksum.update(step.flip());
      }
      checksum.update(octets, 0, CHECKED_LENGTH);
      if ((int) checksum.getValue() != head.checksum()) {
        throw new IOException("the checksum of its list of responses differs");
      }
      return new Input(channel, head);
    }

    private static void readFully(FileChannel channel, ByteBuffer target, long at)
        throws IOException {
      int start = target.position();
      while (target.hasRemaining()) {
        if (channel.read(target, at + target.position() - start) < 0) {
          throw new IOException("its list of responses is short");
        }
      }
    }

    Manifest head() {
      return head;
    }

    boolean isAtEnd() {
      return !read.isReadable() && position == end;
    }

    /** A buffer to read so many octets from. */
    ByteBuf next(long count) throws IOException {
      int missing = (int) Math.min(Integer.MAX_VALUE, count - read.readableBytes());
      if (missing > end - position) {
        throw new IOException("its list of responses ends too early");
      }
      if (missing > 0) {
        int more = (int) Math.min(Math.max(missing, STEP_BYTES), end - position);
        ByteBuffer octets = ByteBuffer.allocate(read.readableBytes() + more);
        read.readBytes(octets.array(), 0, read.readableBytes());
        octets.position(octets.capacity() - more);
        readFully(channel, octets, position);
        position += more;
        read = Unpooled.wrappedBuffer(octets.array());
      }
      return read;
    }
  }
}
