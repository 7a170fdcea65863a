package io.kamille.cache.tiers;

import io.kamille.cache.index.CaffeineIndex;
import io.kamille.cache.memory.Arena;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.concurrent.atomic.LongAdder;

/** What metrics and operators are told of the store. Any thread. */
public final class StoreFigures {

  private static final MetricDescriptor CAPACITY =
      MetricDescriptor.gauge(
          "kamille_cache_memory_capacity_bytes",
          Unit.BYTES,
          "Memory for stored responses, taken at start and never exceeded.");

  private static final MetricDescriptor USED =
      MetricDescriptor.gauge(
          "kamille_cache_memory_used_bytes",
          Unit.BYTES,
          "Memory taken by responses that are stored, being stored, or forgotten and still sent.");

  private static final MetricDescriptor RETIRED =
      MetricDescriptor.gauge(
          "kamille_cache_memory_retired_bytes",
          Unit.BYTES,
          "Memory lost until a restart, because the kernel did not replace pages that connections"
              + " may still send. Part of the used memory; zero unless something is wrong.");

  private static final MetricDescriptor PART =
      MetricDescriptor.gauge(
          "kamille_cache_memory_part_bytes",
          Unit.BYTES,
          "Used memory by its use. index: nearly what entries take on the heap. filling: responses"
              + " on their way. leased: no longer stored, but still read or sent.",
          "part");

  private static final MetricDescriptor REGIONS =
      MetricDescriptor.counter(
          "kamille_cache_region_bytes_total",
          Unit.BYTES,
          "Stored content that went to clients by sendfile, without a copy.");

  private static final MetricDescriptor PURGED =
      MetricDescriptor.counter(
          "kamille_cache_purged_responses_total",
          Unit.COUNT,
          "Stored responses that were removed (hard) or made stale (soft), by purges or because an"
              + " unsafe request made them invalid.",
          "mode");

  private final Arena arena;
  private final CaffeineIndex index;
  private final PurgeSettlement settlement;
  private final LongAdder removed;

  /**
   * Figures of a store.
   *
   * @param removed counts the responses that were removed by their key
   */
  StoreFigures(Arena arena, CaffeineIndex index, PurgeSettlement settlement, LongAdder removed) {
    this.arena = arena;
    this.index = index;
    this.settlement = settlement;
    this.removed = removed;
  }

  /** What the memory is taken by. */
  public MemorySnapshot memory() {
    long used = arena.usedBytes();
    long indexed = arena.chargedBytes();
    long stored = index.weightBytes() - index.heapBytes();
    long filling = arena.writingBytes();
    long renewing = arena.renewingBytes();
    long retired = arena.retiredBytes();
    long leased = Math.max(0, used - indexed - stored - filling - renewing - retired);
    return new MemorySnapshot(
        arena.capacityBytes(), stored, indexed, filling, leased, renewing, retired);
  }

  /** Tells of the store in {@code registry}. */
  public void register(MetricRegistry registry) {
    registry.gauge(CAPACITY, arena::capacityBytes);
    registry.gauge(USED, arena::usedBytes);
    registry.gauge(RETIRED, arena::retiredBytes);
    registry.gauge(PART, () -> memory().storedBytes(), "stored");
    registry.gauge(PART, () -> memory().indexBytes(), "index");
    registry.gauge(PART, () -> memory().fillingBytes(), "filling");
    registry.gauge(PART, () -> memory().leasedBytes(), "leased");
    registry.counting(REGIONS, arena::regionBytes);
    registry.counting(PURGED, () -> removed.sum() + settlement.removed(), "hard");
    registry.counting(PURGED, settlement::madeStale, "soft");
  }
}
