package io.kamille.cache.disk;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Appends to a segment in large blocks. Confined to the store's thread. */
final class SegmentWriter {

  static final int BLOCK_BYTES = 1 << 20;

  private final Segment segment;
  private final int capacityBytes;
  private final ByteBuffer block;

  /**
   * @param capacityBytes what the segment may grow to
   * @param block borrowed, empty, until the next writer takes it
   */
  SegmentWriter(Segment segment, int capacityBytes, ByteBuffer block) {
    this.segment = segment;
    this.capacityBytes = capacityBytes;
    this.block = block;
  }

  Segment segment() {
    return segment;
  }

  /** Where in the segment the next octet goes. */
  int offset() {
    return (int) segment.length() + block.position();
  }

  boolean hasRoom(long length) {
    return offset() + length <= capacityBytes;
  }

  boolean hasUnwritten() {
    return block.position() > 0;
  }

  void put(RecordHeader header) throws IOException {
    if (block.remaining() < RecordHeader.LENGTH) {
      flush();
    }
    header.writeTo(block);
  }

  void put(byte[] octets) throws IOException {
    put(ByteBuffer.wrap(octets));
  }

  /** Borrows {@code octets}. */
  void put(ByteBuf octets) throws IOException {
    put(octets.nioBuffer());
  }

  void put(ByteBuffer octets) throws IOException {
    while (octets.hasRemaining()) {
      if (!block.hasRemaining()) {
        flush();
      }
      int count = Math.min(block.remaining(), octets.remaining());
      block.put(octets.slice(octets.position(), count));
      octets.position(octets.position() + count);
    }
  }

  /** Appends zeros up to the next record. */
  void pad() throws IOException {
    put(new byte[(int) Extent.padded(offset()) - offset()]);
  }

  /** Writes the block; what was put before can be read from the segment afterwards. */
  void flush() throws IOException {
    block.flip();
    try {
      segment.append(block);
    } finally {
      block.clear();
    }
  }
}
