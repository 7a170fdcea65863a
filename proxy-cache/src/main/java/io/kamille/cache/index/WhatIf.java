package io.kamille.cache.index;

import io.kamille.cache.index.Forecast.Estimate;
import io.kamille.cache.index.RequestSamples.Event;
import java.util.ArrayList;
import java.util.List;

/** Ghosts of other sizes, while somebody asks what they would hit. Guarded by its judge. */
final class WhatIf {

  /*
   * Each policy is watched with a quarter, half, one, two and four times the memory there is. All
   * begin empty and see the same requests, so they can be compared with each other, and with
   * nothing else. Of a large cache fewer keys are watched than the judge watches: the ghost of the
   * size that there is stands for at most 64 MiB. Where objects are so small that all ghosts
   * together would know too many keys, watching ends early, and what was counted stays.
   */
  private static final double[] FACTORS = {0.25, 0.5, 1, 2, 4};
  private static final int MOST_KEYS = 400_000;
  private static final long MOST_UNITS = (64L << 20) / MemoryIndex.UNIT_BYTES;

  private final long capacityUnits;
  private final long sinceEpochSeconds;
  private final long untilEpochSeconds;
  private final int moreShift;
  private final double sampledShare;
  private final List<Sized> sizes = new ArrayList<>();

  private record Sized(double factor, long maximumUnits, Ghost ghost) {}

  /**
   * Begins to watch.
   *
   * @param capacityUnits of the whole index
   * @param sampleShift the judge sees one key of 2 to the power of that
   */
  WhatIf(long capacityUnits, int sampleShift, long sinceEpochSeconds, long untilEpochSeconds) {
    this.capacityUnits = capacityUnits;
    this.sinceEpochSeconds = sinceEpochSeconds;
    this.untilEpochSeconds = untilEpochSeconds;
    int more = 0;
    while ((capacityUnits >> (sampleShift + more)) > MOST_UNITS) {
      more++;
    }
    moreShift = more;
    sampledShare = 1.0 / (1L << (sampleShift + more));
    for (Policy policy : Policy.values()) {
      for (double factor : FACTORS) {
        long units = Math.max(1, (long) ((capacityUnits >> (sampleShift + more)) * factor));
        sizes.add(new Sized(factor, units, new Ghost(policy, units, 1)));
      }
    }
  }

  /** Something happened with a key. */
  void hear(Event event, Long hash, Integer units) {
    if ((hash & (1L << moreShift) - 1) == 0) {
      for (Sized each : sizes) {
        each.ghost.hear(event, hash, units);
      }
    }
  }

  /** Whether it has seen enough, or knows too much. */
  boolean isOver(long nowEpochSeconds) {
    return nowEpochSeconds >= untilEpochSeconds
        || sizes.stream().mapToLong(each -> each.ghost.keys()).sum() > MOST_KEYS;
  }

  Forecast forecast(boolean isOpen) {
    return new Forecast(
        sinceEpochSeconds,
        untilEpochSeconds,
        isOpen,
        sampledShare,
        sizes.stream().map(this::estimate).toList());
  }

  private Estimate estimate(Sized each) {
    double ratio = each.ghost.objectHitRatio();
    long requests = each.ghost.requests();
    return new Estimate(
        each.ghost.policy(),
        each.factor,
        ((long) (capacityUnits * each.factor)) * MemoryIndex.UNIT_BYTES,
        requests,
        ratio,
        each.ghost.byteHitRatio(),
        (double) each.ghost.units() / each.maximumUnits,
        Math.sqrt(ratio * (1 - ratio) / Math.max(1, requests)));
  }
}
