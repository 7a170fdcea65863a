package io.kamille.cache.index;

/** One ghost and what it would have hit, in buckets of requests. Guarded by its judge. */
final class GhostTally {

  private final Ghost ghost;
  private final long[] requests;
  private final long[] hits;
  private final long[] units;
  private final long[] hitUnits;

  GhostTally(Policy policy, long maximumUnits, int buckets) {
    this.ghost = Ghost.of(policy, maximumUnits);
    this.requests = new long[buckets];
    this.hits = new long[buckets];
    this.units = new long[buckets];
    this.hitUnits = new long[buckets];
  }

  Ghost ghost() {
    return ghost;
  }

  /** Something was asked for; whether it would have been here. */
  boolean use(Long hash, int bucket) {
    int weight = ghost.use(hash);
    if (weight > 0) {
      requests[bucket]++;
      units[bucket] += weight;
      hits[bucket]++;
      hitUnits[bucket] += weight;
    }
    return weight > 0;
  }

  /** Something was asked for that would not have been here, and weighs so much. */
  void miss(Long hash, Integer weight, int bucket) {
    requests[bucket]++;
    units[bucket] += weight;
    ghost.store(hash, weight);
  }

  /** Forgets what was counted in a bucket. */
  void begin(int bucket) {
    requests[bucket] = 0;
    hits[bucket] = 0;
    units[bucket] = 0;
    hitUnits[bucket] = 0;
  }

  long requests() {
    return sum(requests);
  }

  double objectHitRatio() {
    return ratio(hits, requests);
  }

  double byteHitRatio() {
    return ratio(hitUnits, units);
  }

  private static double ratio(long[] parts, long[] wholes) {
    return (double) sum(parts) / Math.max(1, sum(wholes));
  }

  private static long sum(long[] counts) {
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    return sum;
  }
}
