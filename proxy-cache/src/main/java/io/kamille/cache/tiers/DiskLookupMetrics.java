package io.kamille.cache.tiers;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** How reads of the disk for requests ended. Any thread. */
final class DiskLookupMetrics {

  /** How a read ended. */
  enum Outcome {
    /** A response was read, proven and taken into memory. */
    FOUND,
    /** A response was proven, and left where it is, to be sent from its file. */
    SENT,
    /** Nothing there was what the request selects, or it was removed or replaced meanwhile. */
    NONE,
    /** The disk failed, or what it gave was damaged. */
    FAILED,
    /** Too many reads waited: none was begun. */
    FULL,
    /** There was no room in memory. */
    NO_MEMORY;

    String token() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private static final MetricDescriptor READS =
      MetricDescriptor.counter(
          "kamille_cache_disk_reads_total",
          Unit.COUNT,
          "Disk reads for requests, by outcome. found: loaded into memory. sent: sent from its"
              + " file. none: the key is not there. full: too many reads waited. All but found and"
              + " sent are misses.",
          "outcome");

  private static final MetricDescriptor LATE =
      MetricDescriptor.counter(
          "kamille_cache_disk_late_total",
          Unit.COUNT,
          "Requests that went to the origin because the disk took too long.");

  private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
  private final LongAdder late = new LongAdder();

  DiskLookupMetrics(MetricRegistry registry) {
    for (Outcome outcome : Outcome.values()) {
      LongAdder count = new LongAdder();
      outcomes.put(outcome, count);
      registry.counting(READS, count::sum, outcome.token());
    }
    registry.counting(LATE, late::sum);
  }

  @SuppressWarnings("NullAway") // every outcome has its count
  void ended(Outcome outcome) {
    outcomes.get(outcome).increment();
  }

  void late() {
    late.increment();
  }
}
