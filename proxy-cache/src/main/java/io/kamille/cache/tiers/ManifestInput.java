package io.kamille.cache.tiers;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.zip.CRC32C;

/**
 * Reads a manifest whose length and checksum are right, and never more than it says. One thread.
 */
final class ManifestInput {

  private static final int STEP_BYTES = 1 << 20;

  private final FileChannel channel;
  private final Manifest head;
  private final long end;
  private long position = Manifest.LENGTH;
  private ByteBuf read = Unpooled.EMPTY_BUFFER;

  private ManifestInput(FileChannel channel, Manifest head) {
    this.channel = channel;
    this.head = head;
    end = Manifest.LENGTH + head.bodyBytes();
  }

  /**
   * Begins to read.
   *
   * @throws IOException if it is short, or damaged, or of another version
   */
  static ManifestInput open(FileChannel channel) throws IOException {
    long size = channel.size();
    if (size < Manifest.LENGTH) {
      throw new IOException("its list of responses is short");
    }
    byte[] octets = new byte[Manifest.LENGTH];
    readFully(channel, ByteBuffer.wrap(octets), 0);
    Manifest head = Manifest.decode(octets);
    if (head.bodyBytes() != size - Manifest.LENGTH) {
      throw new IOException("its list of responses is short");
    }
    CRC32C checksum = new CRC32C();
    ByteBuffer step = ByteBuffer.allocate(STEP_BYTES);
    for (long at = Manifest.LENGTH; at < size; at += step.limit()) {
      step.clear().limit((int) Math.min(STEP_BYTES, size - at));
      readFully(channel, step, at);
      checksum.update(step.flip());
    }
    checksum.update(octets, 0, Manifest.CHECKED_LENGTH);
    if ((int) checksum.getValue() != head.checksum()) {
      throw new IOException("the checksum of its list of responses differs");
    }
    return new ManifestInput(channel, head);
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
