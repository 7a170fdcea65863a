package io.kamille.cache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy.Eviction;
import io.kamille.cache.index.RequestSamples.Event;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A cache without content: what a policy would hold, from a sample of what is asked for, and what
 * it would have hit, in buckets of requests. Guarded by the judge.
 */
final class Ghost {

  /*
   * A cache of one 64th of the size, which sees one 64th of the keys, chosen by hash, hits as often
   * as the whole does (Waldspurger, Saemundsson, Ahmad, Park 2017). All ghosts hold the same boxed
   * numbers. Admission by size comes before each ghost as it comes before the cache.
   */
  private static final int UNITS_PER_COUNTER = 64;
  private static final int LEAST_ENTRIES = 256;
  private static final float LOAD = 0.75f;

  private final Policy policy;
  private final long maximumUnits;
  private final SizeAdmission admission;

  /** What it holds, by hash. Under LRU the oldest use comes first, and this class evicts. */
  private final Map<Long, Integer> entries;

  /** How entries are read without a use of them. */
  private final Function<Long, @Nullable Integer> peek;

  /** What evicts otherwise. */
  private final @Nullable Eviction<Long, Integer> eviction;

  private final Buckets objects;
  private final Buckets bytes;

  /** What all entries weigh under LRU. */
  private long units;

  Ghost(Policy policy, long maximumUnits, int buckets) {
    this.policy = policy;
    this.maximumUnits = maximumUnits;
    this.admission = new SizeAdmission(maximumUnits, maximumUnits / UNITS_PER_COUNTER);
    this.objects = new Buckets(buckets);
    this.bytes = new Buckets(buckets);
    if (policy == Policy.LRU) {
      entries = new LinkedHashMap<>(LEAST_ENTRIES, LOAD, true);
      peek = entries::get;
      eviction = null;
    } else {
      Cache<Long, Integer> cache =
          Caffeine.newBuilder()
              .maximumWeight(maximumUnits)
              .<Long, Integer>weigher((hash, units) -> units)
              .executor(Runnable::run)
              .build();
      entries = cache.asMap();
      peek = cache.policy()::getIfPresentQuietly;
      eviction = cache.policy().eviction().orElseThrow();
    }
  }

  /** How much was asked for, and hit, in the last buckets of requests. */
  private static final class Buckets {

    private final long[] asked;
    private final long[] hit;
    private int bucket;

    Buckets(int count) {
      asked = new long[count];
      hit = new long[count];
    }

    void count(boolean isHit, long amount) {
      asked[bucket] += amount;
      hit[bucket] += isHit ? amount : 0;
    }

    void beginNext() {
      bucket = (bucket + 1) % asked.length;
      asked[bucket] = 0;
      hit[bucket] = 0;
    }

    long asked() {
      return Arrays.stream(asked).sum();
    }

    double ratio() {
      return (double) Arrays.stream(hit).sum() / Math.max(1, asked());
    }
  }

  Policy policy() {
    return policy;
  }

  /** Something happened with a key; whether a request was counted by that. */
  boolean hear(Event event, Long hash, Integer units) {
    return switch (event) {
      case FOUND -> use(hash) || miss(hash, units);
      case MISSED -> use(hash);
      case STORED -> !weigh(hash, units) && miss(hash, units);
      case REMOVED -> {
        units -= weightOf(entries.remove(hash));
        yield false;
      }
    };
  }

  /** Something was asked for; whether it would have been here. */
  private boolean use(Long hash) {
    Integer weight = entries.get(hash);
    if (weight != null) {
      count(true, weight);
    }
    return weight != null;
  }

  /** Something was asked for that would not have been here, and could be stored. */
  private boolean miss(Long hash, Integer weight) {
    count(false, weight);
    if (admission.admits(policy, hash, weight, units())) {
      put(hash, weight);
    }
    return true;
  }

  private void count(boolean isHit, int weight) {
    objects.count(isHit, 1);
    bytes.count(isHit, weight);
  }

  /** What is stored weighs so much now; false if it is not here. */
  private boolean weigh(Long hash, Integer weight) {
    Integer known = peek.apply(hash);
    if (known != null && !known.equals(weight)) {
      put(hash, weight);
    }
    return known != null;
  }

  private void put(Long hash, Integer weight) {
    units += weight - weightOf(entries.put(hash, weight));
    if (eviction == null) {
      Iterator<Integer> oldest = entries.values().iterator();
      while (units > maximumUnits && oldest.hasNext()) {
        units -= oldest.next();
        oldest.remove();
      }
    }
  }

  private static int weightOf(@Nullable Integer known) {
    return known == null ? 0 : known;
  }

  /** Goes on counting in the next bucket, and forgets what was counted there. */
  void beginBucket() {
    objects.beginNext();
    bytes.beginNext();
  }

  long requests() {
    return objects.asked();
  }

  double objectHitRatio() {
    return objects.ratio();
  }

  double byteHitRatio() {
    return bytes.ratio();
  }

  long units() {
    return eviction == null ? units : eviction.weightedSize().orElse(0);
  }

  /** How many keys it knows. */
  long keys() {
    return entries.size();
  }

  /** Goes on with what it holds as the cache would if it had just begun to have this policy. */
  void beginAnew() {
    if (eviction != null) {
      eviction.setMaximum(maximumUnits + 1);
      eviction.setMaximum(maximumUnits);
    }
  }
}
