package io.kamille.cache.disk;

import io.kamille.cache.disk.RecordReader.Outcome;
import io.kamille.cache.key.CacheKey;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Lends one record. Confined to the thread that reads, which may wait for a disk. */
final class Lending implements RecordSink {

  private final Predicate<StoredHead> isWanted;
  private final long fetchBytes;
  private final Executor readers;
  private final Consumer<IOException> whenBroken;
  private @Nullable StoredHead head;
  private byte[] encoded = {};
  private int known;
  private long sequence;
  private int contentLength;
  private @Nullable LentRecord lent;

  /**
   * One that has not begun.
   *
   * @param isWanted asked for what the record tells before its octets
   * @param fetchBytes how much of the content is to be in the kernel's memory in the end
   * @param readers where more of it is read later
   * @param whenBroken told if that fails
   */
  Lending(
      Predicate<StoredHead> isWanted,
      long fetchBytes,
      Executor readers,
      Consumer<IOException> whenBroken) {
    this.isWanted = isWanted;
    this.fetchBytes = fetchBytes;
    this.readers = readers;
    this.whenBroken = whenBroken;
  }

  @Override
  public boolean begin(StoredHead head, long sequence, int contentLength) {
    this.head = head;
    this.sequence = sequence;
    this.contentLength = contentLength;
    this.encoded = new byte[head.encoded().length()];
    return isWanted.test(head);
  }

  /** The encoded head comes first; what follows is read to be proven. */
  @Override
  public boolean append(ByteBuf octets) {
    int count = Math.min(octets.readableBytes(), encoded.length - known);
    octets.getBytes(octets.readerIndex(), encoded, known, count);
    known += count;
    return true;
  }

  /** Proves the record, and lends it then. The caller holds a lease on the segment. */
  Outcome prove(CacheKey key, RecordReader reader, Segment segment) throws IOException {
    if (!segment.isSendable()) {
      return Outcome.DECLINED;
    }
    Outcome outcome = reader.prove(key, this);
    StoredHead proven = head;
    if (outcome == Outcome.PROVEN && proven != null) {
      long position = reader.contentPosition();
      long fetched = Math.min(fetchBytes, contentLength);
      segment.fetch(position, fetched);
      segment.retain();
      var octets =
          new SegmentOctets(
              segment, encoded, position, contentLength, fetched, readers, whenBroken);
      lent = new LentRecord(proven, sequence, octets);
    }
    return outcome;
  }

  /** What was proven; the caller owns the lease on it. Null if nothing was. */
  @Nullable LentRecord lent() {
    return lent;
  }
}
