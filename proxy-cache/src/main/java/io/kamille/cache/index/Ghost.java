package io.kamille.cache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy.Eviction;
import io.kamille.cache.index.RequestSamples.Event;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A cache without content: what a policy would hold, from a sample of what is asked for, and what
 * it would have hit, in buckets of requests. Guarded by the judge.
 */
abstract sealed class Ghost {

  /*
   * A cache of one 64th of the size, which sees one 64th of the keys, chosen by hash, hits as often
   * as the whole does (Waldspurger, Saemundsson, Ahmad, Park 2017). All ghosts hold the same boxed
   * numbers. Admission by size comes before each ghost as it comes before the cache.
   */
  private static final int UNITS_PER_COUNTER = 64;

  private final Policy policy;
  private final SizeAdmission admission;
  private final long[] requests;
  private final long[] hits;
  private final long[] requestedUnits;
  private final long[] hitUnits;
  private int bucket;

  private Ghost(Policy policy, long maximumUnits, int buckets) {
    this.policy = policy;
    this.admission = new SizeAdmission(maximumUnits, maximumUnits / UNITS_PER_COUNTER);
    this.requests = new long[buckets];
    this.hits = new long[buckets];
    this.requestedUnits = new long[buckets];
    this.hitUnits = new long[buckets];
  }

  static Ghost of(Policy policy, long maximumUnits, int buckets) {
    return policy == Policy.LRU
        ? new Lru(maximumUnits, buckets)
        : new TinyLfu(maximumUnits, buckets);
  }

  final Policy policy() {
    return policy;
  }

  /** Something happened with a key; whether a request was counted by that. */
  final boolean hear(Event event, Long hash, Integer units) {
    return switch (event) {
      case FOUND -> use(hash) || miss(hash, units);
      case MISSED -> use(hash);
      case STORED -> !weigh(hash, units) && miss(hash, units);
      case REMOVED -> {
        forget(hash);
        yield false;
      }
    };
  }

  /** Something was asked for; whether it would have been here. */
  private boolean use(Long hash) {
    Integer weight = find(hash);
    if (weight == null) {
      return false;
    }
    requests[bucket]++;
    requestedUnits[bucket] += weight;
    hits[bucket]++;
    hitUnits[bucket] += weight;
    return true;
  }

  /** Something was asked for that would not have been here, and could be stored. */
  private boolean miss(Long hash, Integer weight) {
    requests[bucket]++;
    requestedUnits[bucket] += weight;
    if (admission.admits(policy, hash, weight, units())) {
      put(hash, weight);
    }
    return true;
  }

  /** What is stored weighs so much now; false if it is not here. */
  private boolean weigh(Long hash, Integer units) {
    Integer known = peek(hash);
    if (known != null && !known.equals(units)) {
      put(hash, units);
    }
    return known != null;
  }

  /** Goes on counting in the next bucket, and forgets what was counted there. */
  final void beginBucket() {
    bucket = (bucket + 1) % requests.length;
    requests[bucket] = 0;
    hits[bucket] = 0;
    requestedUnits[bucket] = 0;
    hitUnits[bucket] = 0;
  }

  final long requests() {
    return sum(requests);
  }

  final double objectHitRatio() {
    return ratio(hits, requests);
  }

  final double byteHitRatio() {
    return ratio(hitUnits, requestedUnits);
  }

  private static double ratio(long[] parts, long[] wholes) {
    return (double) sum(parts) / Math.max(1, sum(wholes));
  }

  private static long sum(long[] counts) {
    return Arrays.stream(counts).sum();
  }

  /** The weight of something, if it is here; a use of it. */
  abstract @Nullable Integer find(Long hash);

  abstract @Nullable Integer peek(Long hash);

  abstract void put(Long hash, Integer units);

  /** Something was removed, and not for want of room. */
  abstract void forget(Long hash);

  abstract long units();

  /** How many keys it knows. */
  abstract long keys();

  /** Goes on with what it holds as the cache would if it had just begun to have this policy. */
  abstract void beginAnew();

  private static final class TinyLfu extends Ghost {

    private final Cache<Long, Integer> cache;
    private final Eviction<Long, Integer> size;

    TinyLfu(long maximumUnits, int buckets) {
      super(Policy.TINYLFU, maximumUnits, buckets);
      cache =
          Caffeine.newBuilder()
              .maximumWeight(maximumUnits)
              .<Long, Integer>weigher((hash, units) -> units)
              .executor(Runnable::run)
              .build();
      size = cache.policy().eviction().orElseThrow();
    }

    @Override
    @Nullable Integer find(Long hash) {
      return cache.getIfPresent(hash);
    }

    @Override
    @Nullable Integer peek(Long hash) {
      return cache.policy().getIfPresentQuietly(hash);
    }

    @Override
    void put(Long hash, Integer units) {
      cache.put(hash, units);
    }

    @Override
    void forget(Long hash) {
      cache.invalidate(hash);
    }

    @Override
    long units() {
      return size.weightedSize().orElse(0);
    }

    @Override
    long keys() {
      return cache.estimatedSize();
    }

    @Override
    void beginAnew() {
      long maximum = size.getMaximum();
      size.setMaximum(maximum + 1);
      size.setMaximum(maximum);
    }
  }

  private static final class Lru extends Ghost {

    private static final int LEAST_ENTRIES = 256;
    private static final float LOAD = 0.75f;

    private final Map<Long, Integer> entries = new LinkedHashMap<>(LEAST_ENTRIES, LOAD, true);
    private final long maximumUnits;
    private long units;

    Lru(long maximumUnits, int buckets) {
      super(Policy.LRU, maximumUnits, buckets);
      this.maximumUnits = maximumUnits;
    }

    @Override
    @Nullable Integer find(Long hash) {
      return entries.get(hash);
    }

    @Override
    @Nullable Integer peek(Long hash) {
      return entries.get(hash);
    }

    @Override
    void put(Long hash, Integer weight) {
      Integer before = entries.put(hash, weight);
      units += weight - (before == null ? 0 : before);
      Iterator<Integer> oldest = entries.values().iterator();
      while (units > maximumUnits && oldest.hasNext()) {
        units -= oldest.next();
        oldest.remove();
      }
    }

    @Override
    void forget(Long hash) {
      Integer before = entries.remove(hash);
      units -= before == null ? 0 : before;
    }

    @Override
    long units() {
      return units;
    }

    @Override
    long keys() {
      return entries.size();
    }

    @Override
    void beginAnew() {}
  }
}
