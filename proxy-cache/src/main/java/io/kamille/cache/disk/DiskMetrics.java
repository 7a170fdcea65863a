package io.kamille.cache.disk;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.util.function.Supplier;

/** What is told of a disk tier. */
public final class DiskMetrics {

  private static final MetricDescriptor UP =
      MetricDescriptor.gauge(
          "kamille_cache_disk_up",
          "1 while the disk tier takes responses, 0 while the disk is full or refuses writes.");

  private static final MetricDescriptor RECOVERED =
      MetricDescriptor.gauge(
          "kamille_cache_disk_recovered",
          "1 once everything that earlier processes left on the disk can be found, 0 before.");

  private static final MetricDescriptor CAPACITY =
      MetricDescriptor.gauge(
          "kamille_cache_disk_capacity_bytes", "The most that the disk tier's files may take.");

  private static final MetricDescriptor USED =
      MetricDescriptor.gauge(
          "kamille_cache_disk_used_bytes", "Octets that the disk tier's files take.");

  private static final MetricDescriptor RECORDS =
      MetricDescriptor.gauge(
          "kamille_cache_disk_records", "Responses that can be found on the disk.");

  private static final MetricDescriptor INDEX =
      MetricDescriptor.gauge(
          "kamille_cache_disk_index_bytes", "Heap that the index of the disk tier takes.");

  private static final MetricDescriptor WRITTEN =
      MetricDescriptor.counter(
          "kamille_cache_disk_written_bytes_total",
          "Responses written to the disk, without those that were copied to be kept.");

  private static final MetricDescriptor DROPPED =
      MetricDescriptor.counter(
          "kamille_cache_disk_dropped_total",
          "Responses not written: the queue was full, they were too large for a segment or removed"
              + " meanwhile, or the disk refused writes.");

  private static final MetricDescriptor READMITTED =
      MetricDescriptor.counter(
          "kamille_cache_disk_readmitted_total",
          "Responses copied from the oldest segment to the newest, because they were asked for.");

  private static final MetricDescriptor EVICTED =
      MetricDescriptor.counter(
          "kamille_cache_disk_evicted_segments_total", "Segments forgotten to make room.");

  private static final MetricDescriptor DAMAGED =
      MetricDescriptor.counter(
          "kamille_cache_disk_damaged_total",
          "Records that failed a checksum, and segments given up because of one.");

  private DiskMetrics() {}

  /** Tells of the tier that is there at that moment in {@code registry}. */
  public static void register(Supplier<DiskTier> tier, MetricRegistry registry) {
    registry.gauge(UP, () -> tier.get().isRunning() ? 1 : 0);
    registry.gauge(RECOVERED, () -> tier.get().isRecovered() ? 1 : 0);
    registry.gauge(CAPACITY, () -> tier.get().capacityBytes());
    registry.gauge(USED, () -> tier.get().usedBytes());
    registry.gauge(RECORDS, () -> tier.get().size());
    registry.gauge(INDEX, () -> tier.get().indexBytes());
    registry.counting(WRITTEN, () -> tier.get().counts().writtenBytes.sum());
    registry.counting(DROPPED, () -> tier.get().counts().droppedWrites.sum());
    registry.counting(READMITTED, () -> tier.get().counts().readmissions.sum());
    registry.counting(EVICTED, () -> tier.get().counts().evictedSegments.sum());
    registry.counting(DAMAGED, () -> tier.get().counts().damagedRecords.sum());
  }
}
