package io.kamille.cache.disk;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.StoredResponse;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
    byte[] uri = response.uri().getBytes(StandardCharsets.ISO_8859_1);
    this.head = head(response, uri);
    EncodedHead encoded =
        new EncodedHead(response.status(), uri.length, head.length, response.upstreamCacheStatus());
    this.facts =
        FactsCodec.encode(
            new StoredHead(
                encoded, response.facts(), response.selecting(), response.forms().isCodable()));
    CRC32C headChecksum = new CRC32C();
    headChecksum.update(facts);
    headChecksum.update(head);
    CRC32C contentChecksum = new CRC32C();
    forEachPiece(piece -> contentChecksum.update(piece.nioBuffer()));
    this.header =
        new RecordHeader(
            store,
            0,
            0,
            RecordHeader.Kind.RESPONSE,
            variant(response),
            keyHigh,
            keyLow,
            sequence,
            facts.length,
            head.length,
            (int) response.contentLength(),
            (int) headChecksum.getValue(),
            (int) contentChecksum.getValue());
  }

  private static byte[] head(StoredResponse response, byte[] uri) {
    ByteBuf lines = response.lines();
    try {
      byte[] head = new byte[uri.length + lines.readableBytes()];
      System.arraycopy(uri, 0, head, 0, uri.length);
      lines.getBytes(lines.readerIndex(), head, uri.length, lines.readableBytes());
      return head;
    } finally {
      lines.release();
    }
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
