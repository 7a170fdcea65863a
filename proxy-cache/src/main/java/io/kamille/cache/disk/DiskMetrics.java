package io.kamille.cache.disk;

import io.kamille.core.metric.MetricRegistry;
import java.util.function.Supplier;

/** What is told of a disk tier. */
public final class DiskMetrics {

  private DiskMetrics() {}

  /** Tells of the tier that is there at that moment in {@code registry}. */
  public static void register(Supplier<DiskTier> tier, MetricRegistry registry) {
    registry.gauge(
        "kamille_cache_disk_up",
        "1 while the disk tier takes responses, 0 while the disk is full or refuses writes.",
        () -> tier.get().isRunning() ? 1 : 0);
    registry.gauge(
        "kamille_cache_disk_recovered",
        "1 once everything that earlier processes left on the disk can be found, 0 before.",
        () -> tier.get().isRecovered() ? 1 : 0);
    registry.gauge(
        "kamille_cache_disk_capacity_bytes",
        "The most that the disk tier's files may take.",
        () -> tier.get().capacityBytes());
    registry.gauge(
        "kamille_cache_disk_used_bytes",
        "Octets that the disk tier's files take.",
        () -> tier.get().usedBytes());
    registry.gauge(
        "kamille_cache_disk_records",
        "Responses that can be found on the disk.",
        () -> tier.get().size());
    registry.gauge(
        "kamille_cache_disk_index_bytes",
        "Heap that the index of the disk tier takes.",
        () -> tier.get().indexBytes());
    registry.counting(
        "kamille_cache_disk_written_bytes_total",
        "Responses written to the disk, without those that were copied to be kept.",
        () -> tier.get().counts().writtenBytes.sum());
    registry.counting(
        "kamille_cache_disk_dropped_total",
        "Responses not written: the queue was full, they were too large for a segment or removed"
            + " meanwhile, or the disk refused writes.",
        () -> tier.get().counts().droppedWrites.sum());
    registry.counting(
        "kamille_cache_disk_readmitted_total",
        "Responses copied from the oldest segment to the newest, because they were asked for.",
        () -> tier.get().counts().readmissions.sum());
    registry.counting(
        "kamille_cache_disk_evicted_segments_total",
        "Segments forgotten to make room.",
        () -> tier.get().counts().evictedSegments.sum());
    registry.counting(
        "kamille_cache_disk_damaged_total",
        "Records that failed a checksum, and segments given up because of one.",
        () -> tier.get().counts().damagedRecords.sum());
  }
}
