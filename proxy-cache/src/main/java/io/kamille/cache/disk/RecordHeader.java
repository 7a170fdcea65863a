package io.kamille.cache.disk;

import io.kamille.cache.key.CacheKey;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The fixed part of a record.
 *
 * @param store the number of the store
 * @param segment the segment it was written to
 * @param offset where in the segment
 * @param kind what the record says
 * @param variant of the key, {@link Extent#variant}
 * @param keyHigh first half of the cache key
 * @param keyLow second half of the cache key
 * @param sequence a number of the writer's, not looked into here
 * @param factsLength octets that {@link FactsCodec} wrote
 * @param headLength octets of the encoded head
 * @param contentLength octets of content
 * @param headChecksum CRC-32C of facts and encoded head
 * @param contentChecksum CRC-32C of the content
 */
record RecordHeader(
    long store,
    int segment,
    int offset,
    RecordType kind,
    int variant,
    long keyHigh,
    long keyLow,
    long sequence,
    int factsLength,
    int headLength,
    int contentLength,
    int headChecksum,
    int contentChecksum) {

  /*
   *   ┌──────┬─────────┬──────┬─────────┬───────┬─────────┬────────┐
   *   │ mark │ version │ kind │ variant │ store │ segment │ offset │
   *   └──────┴─────────┴──────┴─────────┴───────┴─────────┴────────┘
   *   0      4         5      6         8       16        20       24
   *   ┌──────────┬─────────┬──────────┬──────────────┬─────────────┬────────────────┐
   *   │ key high │ key low │ sequence │ facts length │ head length │ content length │
   *   └──────────┴─────────┴──────────┴──────────────┴─────────────┴────────────────┘
   *   24         32        40         48             52            56               60
   *   ┌───────────────┬──────────────────┬───────────────┬──────────┐
   *   │ head checksum │ content checksum │ zero          │ checksum │
   *   └───────────────┴──────────────────┴───────────────┴──────────┘
   *   60              64                 68              76         80
   *
   * Behind it facts, encoded head, content, and zeros up to a multiple of 16. The record names the
   * place it was written to: octets that got somewhere else, by a fault of a disk or as content
   * that imitates records, are no record.
   */

  /** What a record says. */
  enum RecordType {
    /** Here is a response. */
    RESPONSE,
    /** No response written under this key before is to be used. */
    REMOVAL,
    /** No response of this variant written under this key before is to be used. */
    REPLACEMENT
  }

  static final int LENGTH = 80;

  private static final int MARK = 0x4b4d5243; // KMRC
  private static final byte VERSION = 1;
  private static final int CHECKED = LENGTH - Integer.BYTES;
  private static final RecordType[] KINDS = RecordType.values();

  /** A removal that is still to be placed. */
  static RecordHeader removal(long store, long keyHigh, long keyLow, long sequence) {
    return new RecordHeader(
        store, 0, 0, RecordType.REMOVAL, 0, keyHigh, keyLow, sequence, 0, 0, 0, 0, 0);
  }

  /** A replacement that is still to be placed. */
  static RecordHeader replacement(long store, long keyHigh, long keyLow, int variant) {
    return new RecordHeader(
        store, 0, 0, RecordType.REPLACEMENT, variant, keyHigh, keyLow, 0, 0, 0, 0, 0, 0);
  }

  /** Says that this record is not to be used; still to be placed. */
  RecordHeader replacement() {
    return replacement(store, keyHigh, keyLow, variant);
  }

  /** The same record in another place. */
  RecordHeader at(int segment, int offset) {
    return new RecordHeader(
        store,
        segment,
        offset,
        kind,
        variant,
        keyHigh,
        keyLow,
        sequence,
        factsLength,
        headLength,
        contentLength,
        headChecksum,
        contentChecksum);
  }

  /** Octets of the whole record, with padding. */
  long recordLength() {
    return Extent.padded((long) LENGTH + factsLength + headLength + contentLength);
  }

  Extent extent() {
    return new Extent(segment, offset, (int) recordLength(), variant);
  }

  boolean isOf(CacheKey key) {
    return keyHigh == key.high() && keyLow == key.low();
  }

  /** Appends {@link #LENGTH} octets. */
  void writeTo(ByteBuffer target) {
    byte[] octets = new byte[LENGTH];
    ByteBuffer header = ByteBuffer.wrap(octets);
    header.putInt(MARK).put(VERSION).put((byte) kind.ordinal()).putShort((short) variant);
    header.putLong(store).putInt(segment).putInt(offset);
    header.putLong(keyHigh).putLong(keyLow).putLong(sequence);
    header.putInt(factsLength).putInt(headLength).putInt(contentLength);
    header.putInt(headChecksum).putInt(contentChecksum);
    header.putInt(CHECKED, Checksum.of(octets, 0, CHECKED));
    target.put(octets);
  }

  /**
   * Reads the header that lies at the beginning of {@code octets}; null if there is none that
   * belongs to this place in this store.
   */
  static @Nullable RecordHeader parse(byte[] octets, long store, int segment, int offset) {
    ByteBuffer header = ByteBuffer.wrap(octets, 0, LENGTH);
    if (header.getInt(CHECKED) != Checksum.of(octets, 0, CHECKED)
        || header.getInt() != MARK
        || header.get() != VERSION) {
      return null;
    }
    int kind = header.get();
    int variant = header.getShort();
    if (header.getLong() != store
        || header.getInt() != segment
        || header.getInt() != offset
        || kind < 0
        || kind >= KINDS.length) {
      return null;
    }
    RecordHeader read =
        new RecordHeader(
            store,
            segment,
            offset,
            KINDS[kind],
            variant & Extent.VARIANT_MASK,
            header.getLong(),
            header.getLong(),
            header.getLong(),
            header.getInt(),
            header.getInt(),
            header.getInt(),
            header.getInt(),
            header.getInt());
    return read.isPossible() ? read : null;
  }

  private boolean isPossible() {
    return factsLength >= 0
        && headLength >= 0
        && contentLength >= 0
        && offset + recordLength() <= Extent.SEGMENT_BYTES_LIMIT;
  }
}
