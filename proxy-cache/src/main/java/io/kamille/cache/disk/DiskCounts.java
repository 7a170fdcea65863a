package io.kamille.cache.disk;

import java.util.concurrent.atomic.LongAdder;

/** What a disk tier has done since the start. Any thread. */
final class DiskCounts {

  final LongAdder writtenBytes = new LongAdder();
  final LongAdder droppedWrites = new LongAdder();
  final LongAdder readmissions = new LongAdder();
  final LongAdder evictedSegments = new LongAdder();
  final LongAdder damagedRecords = new LongAdder();
}
