package io.kamille.cache.disk;

import io.kamille.cache.key.CacheKey;
import io.netty.buffer.Unpooled;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Reads one record, and proves it. Confined to one thread, that may wait for a disk. */
final class RecordReader {

  /** How it went. */
  enum Outcome {
    /** All of it was read, and every checksum is right. */
    PROVEN,
    /** The sink did not want it, or no more of it. */
    DECLINED,
    /** What lies there is of another key. */
    OTHER,
    /** What lies there is no such record, or is damaged. */
    DAMAGED
  }

  private static final int STEP_BYTES = 64 << 10;
  private static final int HEAD_STEP_BYTES = 4 << 10;

  private final long store;
  private final Segment segment;
  private final Extent extent;
  private boolean isProofEnough;
  private int contentStart;

  /** The caller holds a lease on the segment. */
  RecordReader(long store, Segment segment, Extent extent) {
    this.store = store;
    this.segment = segment;
    this.extent = extent;
  }

  Outcome read(CacheKey key, RecordSink sink) throws IOException {
    try {
      return readRecord(key, sink);
    } catch (EOFException e) {
      return Outcome.DAMAGED;
    }
  }

  /**
   * As {@link #read}, for content that stays where it is: what this process has read before, and
   * found right, is not read again, and the sink is given the encoded head only.
   */
  Outcome prove(CacheKey key, RecordSink sink) throws IOException {
    isProofEnough = segment.proven().has(extent);
    Outcome outcome = read(key, sink);
    if (outcome == Outcome.PROVEN) {
      segment.proven().add(extent);
    }
    return outcome;
  }

  /** Where in the segment the content of a record begins that was {@link Outcome#PROVEN}. */
  long contentPosition() {
    return (long) extent.offset() + contentStart;
  }

  private Outcome readRecord(CacheKey key, RecordSink sink) throws IOException {
    if (extent.length() < RecordHeader.LENGTH) {
      return Outcome.DAMAGED;
    }
    int step = isProofEnough ? HEAD_STEP_BYTES : STEP_BYTES;
    byte[] first = new byte[Math.min(extent.length(), step)];
    segment.read(ByteBuffer.wrap(first), extent.offset());
    RecordHeader header = RecordHeader.parse(first, store, extent.segment(), extent.offset());
    if (header == null) {
      return Outcome.DAMAGED;
    }
    if (!header.isOf(key) || header.kind() != RecordHeader.RecordType.RESPONSE) {
      return Outcome.OTHER;
    }
    if (header.recordLength() != extent.length()) {
      return Outcome.DAMAGED;
    }
    return readHead(header, first, sink);
  }

  private Outcome readHead(RecordHeader header, byte[] first, RecordSink sink) throws IOException {
    byte[] octets = octets(first, header.factsLength() + header.headLength());
    if (Checksum.of(octets, RecordHeader.LENGTH, octets.length) != header.headChecksum()) {
      return Outcome.DAMAGED;
    }
    int headStart = RecordHeader.LENGTH + header.factsLength();
    StoredHead head;
    try {
      head =
          FactsCodec.decode(
              Unpooled.wrappedBuffer(octets, RecordHeader.LENGTH, header.factsLength()),
              header.headLength());
    } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
      return Outcome.DAMAGED;
    }
    if (!sink.begin(head, header.sequence(), header.contentLength())
        || !sink.append(Unpooled.wrappedBuffer(octets, headStart, header.headLength()))) {
      return Outcome.DECLINED;
    }
    contentStart = headStart + header.headLength();
    return isProofEnough ? Outcome.PROVEN : readContent(header, first, contentStart, sink);
  }

  /** Header, facts and encoded head, in one piece. */
  private byte[] octets(byte[] first, int behindHeader) throws IOException {
    byte[] octets = new byte[RecordHeader.LENGTH + behindHeader];
    int known = Math.min(first.length, octets.length);
    System.arraycopy(first, 0, octets, 0, known);
    segment.read(
        ByteBuffer.wrap(octets, known, octets.length - known), (long) extent.offset() + known);
    return octets;
  }

  private Outcome readContent(RecordHeader header, byte[] first, int start, RecordSink sink)
      throws IOException {
    CRC32C checksum = new CRC32C();
    int end = start + header.contentLength();
    int known = Math.min(first.length, end);
    if (start < known && !take(first, start, known - start, checksum, sink)) {
      return Outcome.DECLINED;
    }
    for (int at = Math.max(start, known); at < end; at += STEP_BYTES) {
      int count = Math.min(STEP_BYTES, end - at);
      segment.read(ByteBuffer.wrap(first, 0, count), (long) extent.offset() + at);
      if (!take(first, 0, count, checksum, sink)) {
        return Outcome.DECLINED;
      }
    }
    return (int) checksum.getValue() == header.contentChecksum() ? Outcome.PROVEN : Outcome.DAMAGED;
  }

  private static boolean take(
      byte[] octets, int start, int count, CRC32C checksum, RecordSink sink) {
    checksum.update(octets, start, count);
    return sink.append(Unpooled.wrappedBuffer(octets, start, count));
  }
}
