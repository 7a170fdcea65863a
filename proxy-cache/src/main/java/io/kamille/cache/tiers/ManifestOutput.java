package io.kamille.cache.tiers;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.zip.CRC32C;

/** Writes a manifest, its head last. One thread. */
final class ManifestOutput {

  private static final int STEP_BYTES = 1 << 20;

  private final FileChannel channel;
  private final CRC32C checksum = new CRC32C();
  private final ByteBuf waiting = Unpooled.buffer(STEP_BYTES);
  private long position = Manifest.LENGTH;

  ManifestOutput(FileChannel channel) {
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
    long bodyBytes = position - Manifest.LENGTH;
    Manifest head = new Manifest(capacityBytes, generation, secret, keys, bodyBytes, 0);
    checksum.update(head.encode(), 0, Manifest.CHECKED_LENGTH);
    int sum = (int) checksum.getValue();
    Manifest checked = new Manifest(capacityBytes, generation, secret, keys, bodyBytes, sum);
    write(ByteBuffer.wrap(checked.encode()), 0);
  }
}
