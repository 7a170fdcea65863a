package io.kamille.cache.disk;

import io.kamille.cache.key.CacheKey;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads the records of a store. Any thread that may wait for the disk. A record that is damaged
 * leaves the index; a disk that fails sets the tier aside.
 */
final class RecordReads {

  private final long store;
  private final SegmentLog log;
  private final DiskIndex index;
  private final DiskQueue queue;
  private final DiskWorker worker;
  private final DiskCounts counts;

  RecordReads(
      long store,
      SegmentLog log,
      DiskIndex index,
      DiskQueue queue,
      DiskWorker worker,
      DiskCounts counts) {
    this.store = store;
    this.log = log;
    this.index = index;
    this.queue = queue;
    this.worker = worker;
    this.counts = counts;
  }

  /** As {@link DiskTier#read}. */
  boolean read(CacheKey key, Extent extent, RecordSink sink) {
    return read(key, extent, (reader, _) -> reader.read(key, sink));
  }

  /** As {@link DiskTier#lend}. */
  @Nullable LentRecord lend(
      CacheKey key,
      Extent extent,
      Predicate<StoredHead> isWanted,
      long fetchBytes,
      Executor readers) {
    Lending lending = new Lending(isWanted, fetchBytes, readers, worker::stepAside);
    boolean isProven = read(key, extent, (reader, segment) -> lending.prove(key, reader, segment));
    return isProven ? lending.lent() : null;
  }

  /** What is done with a record, under a lease on its segment. */
  private interface Reading {

    RecordReader.Outcome of(RecordReader reader, Segment segment) throws IOException;
  }

  private boolean read(CacheKey key, Extent extent, Reading reading) {
    Segment segment = log.retained(extent.segment());
    if (segment == null) {
      return false;
    }
    try {
      return switch (reading.of(new RecordReader(store, segment, extent), segment)) {
        case PROVEN -> true;
        case DECLINED, OTHER -> false;
        case DAMAGED -> {
          damaged(key, extent);
          yield false;
        }
      };
    } catch (IOException e) {
      worker.stepAside(e);
      return false;
    } finally {
      segment.release();
    }
  }

  private void damaged(CacheKey key, Extent extent) {
    long high = key.high();
    long low = key.low();
    if (index.remove(low, extent)) {
      counts.damagedRecords.increment();
      queue.remove(() -> log.replace(high, low, extent.variant()));
    }
  }
}
