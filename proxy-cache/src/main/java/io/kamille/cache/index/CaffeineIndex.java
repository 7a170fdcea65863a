package io.kamille.cache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.kamille.cache.semantics.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** An index whose policy is Caffeine's W-TinyLFU (Einziger, Friedman, Manes 2017). Any thread. */
public final class CaffeineIndex implements ResponseIndex {

  /*
   * Weights are counted in units of 128 octets, the arena's granule, so that an int holds the weight
   * of 256 GiB. Each key is charged what it takes on the heap too: the entry, the key, the variants,
   * the facts of a response; measured values belong to the benchmark log, this is the estimate.
   *
   * Everything Caffeine does happens on the thread that calls (executor Runnable::run): a loop pays
   * for its own evictions. A value that is replaced is released by put, which knows what the new
   * value has kept of it; every other way out goes through the removal listener.
   */
  private static final int UNIT_BYTES = 128;
  private static final int HEAP_UNITS_PER_KEY = 2;
  private static final int HEAP_UNITS_PER_RESPONSE = 2;

  private final Cache<CacheKey, Variants> cache;
  private final Policy.Eviction<CacheKey, Variants> eviction;
  private final LongAdder evictions = new LongAdder();

  /** An index that begins to evict when what is in it weighs more than {@code capacityBytes}. */
  public CaffeineIndex(long capacityBytes) {
    this.cache =
        Caffeine.newBuilder()
            .maximumWeight(capacityBytes / UNIT_BYTES)
            .weigher(CaffeineIndex::weightUnits)
            .executor(Runnable::run)
            .removalListener(this::removed)
            .build();
    this.eviction = cache.policy().eviction().orElseThrow();
  }

  @Override
  public @Nullable Variants find(CacheKey key) {
    return cache.getIfPresent(key);
  }

  @Override
  public void put(CacheKey key, StoredResponse response) {
    cache
        .asMap()
        .compute(
            key,
            (same, before) -> {
              if (before == null) {
                return Variants.of(response);
              }
              Variants after = before.with(response);
              before.releaseExcept(after);
              return after;
            });
  }

  @Override
  public boolean replace(CacheKey key, StoredResponse one, @Nullable StoredResponse other) {
    var replaced = new AtomicBoolean();
    cache
        .asMap()
        .computeIfPresent(
            key,
            (same, before) -> {
              if (!before.contains(one)) {
                return before;
              }
              replaced.set(true);
              Variants after = before.replacing(one, other);
              if (after != null) {
                before.releaseExcept(after);
              }
              return after;
            });
    return replaced.get();
  }

  @Override
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    cache.asMap().forEach(reader);
  }

  @Override
  public int remove(CacheKey key) {
    Variants removed = cache.asMap().remove(key);
    return removed == null ? 0 : removed.size();
  }

  @Override
  public int clear() {
    int removed = 0;
    for (CacheKey key : cache.asMap().keySet()) {
      removed += remove(key);
    }
    return removed;
  }

  @Override
  public long evict(long bytes) {
    long units = 0;
    long wanted = Math.ceilDiv(bytes, UNIT_BYTES);
    while (units < wanted) {
      Map<CacheKey, Variants> coldest = eviction.coldestWeighted(wanted - units);
      if (coldest.isEmpty()) {
        coldest = eviction.coldest(1);
      }
      if (coldest.isEmpty()) {
        break;
      }
      for (Map.Entry<CacheKey, Variants> entry : coldest.entrySet()) {
        if (cache.asMap().remove(entry.getKey(), entry.getValue())) {
          units += weightUnits(entry.getKey(), entry.getValue());
          evictions.increment();
        }
      }
    }
    return units * UNIT_BYTES;
  }

  @Override
  public long size() {
    return cache.estimatedSize();
  }

  @Override
  public long weightBytes() {
    return eviction.weightedSize().orElse(0) * UNIT_BYTES;
  }

  @Override
  public long evictions() {
    return evictions.sum();
  }

  private static int weightUnits(CacheKey key, Variants variants) {
    long units =
        Math.ceilDiv(variants.occupiedBytes(), UNIT_BYTES)
            + HEAP_UNITS_PER_KEY
            + (long) HEAP_UNITS_PER_RESPONSE * variants.formCount()
            + Math.ceilDiv(
                (long) variants.tags() * Long.BYTES + variants.selectingBytes(), UNIT_BYTES);
    return (int) Math.min(units, Integer.MAX_VALUE);
  }

  private void removed(@Nullable CacheKey key, @Nullable Variants variants, RemovalCause cause) {
    if (variants == null || cause == RemovalCause.REPLACED) {
      return;
    }
    variants.releaseExcept(null);
    if (cause.wasEvicted()) {
      evictions.increment();
    }
  }
}
