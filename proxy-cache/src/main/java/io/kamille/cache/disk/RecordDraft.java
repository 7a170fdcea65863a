package io.kamille.cache.disk;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.StoredResponse;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** A stored response as a record that has no place yet. Confined to the store's thread. */
final class RecordDraft {

  /*
   * The checksum of the content goes before the content, so the content is gone through twice: in
   * memory that costs little, and a reader needs one look at the header to know all it must prove.
   */
  private static final int STEP_BYTES = 256 << 10;

  @FunctionalInterface
  private interface Taking {
    void take(ByteBuf octets) throws IOException;
  }

  private final StoredResponse response;
  private final byte[] facts;
  private final byte[] head;
  private final RecordHeader header;

  /** Borrows the response, on which the caller holds a lease, for as long as the draft is used. */
  RecordDraft(StoredResponse response, long store, long keyHigh, long keyLow, long sequence)
      throws IOException {
    this.response = response;
    this.head = new byte[response.headLength()];
    response.headOctets().copyTo(0, head, 0, head.length);
    this.facts = FactsCodec.encode(StoredHead.of(response));
    CRC32C contentChecksum = new CRC32C();
    forEachPiece(piece -> contentChecksum.update(piece.nioBuffer()));
    this.header =
        new RecordHeader(
            store,
            0,
            0,
            RecordHeader.RecordType.RESPONSE,
            variant(response),
            keyHigh,
            keyLow,
            sequence,
            facts.length,
            head.length,
            (int) response.contentLength(),
            Checksum.of(ByteBuffer.wrap(facts), ByteBuffer.wrap(head)),
            (int) contentChecksum.getValue());
  }

  /** Variants that are equal have equal bits; of those that differ, one pair in 4096 has. */
  static int variant(StoredResponse response) {
    return variant(response.selecting());
  }

  /** The bits of the variant that these fields select. */
  static int variant(SelectingFields selecting) {
    int hash = selecting.hashCode();
    return (hash ^ hash >>> 12 ^ hash >>> 24) & Extent.VARIANT_MASK;
  }

  /** The header, not yet placed. */
  RecordHeader header() {
    return header;
  }

  /** Appends what follows the header, with padding. */
  void writeTo(SegmentWriter writer) throws IOException {
    writer.put(facts);
    writer.put(head);
    forEachPiece(writer::put);
    writer.pad();
  }

  private void forEachPiece(Taking taking) throws IOException {
    long length = response.contentLength();
    for (long at = 0; at < length; at += STEP_BYTES) {
      ByteBuf piece =
          response
              .content()
              .slice(response.contentOffset() + at, (int) Math.min(STEP_BYTES, length - at));
      try {
        taking.take(piece);
      } finally {
        piece.release();
      }
    }
  }
}
