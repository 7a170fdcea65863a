package io.kamille.cache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

/** Caffeine as it is answers a trace: to compare with. */
final class CaffeineSimulation {

  private final Cache<Long, Integer> cache;

  CaffeineSimulation(long capacityBytes) {
    cache =
        Caffeine.newBuilder()
            .maximumWeight(capacityBytes / MemoryIndex.UNIT_BYTES)
            .weigher((Long object, Integer units) -> units)
            .executor(Runnable::run)
            .build();
  }

  /** Whether that object is there; it is stored if not. */
  boolean request(long object, long length) {
    if (cache.getIfPresent(object) != null) {
      return true;
    }
    cache.put(object, (int) Math.ceilDiv(length, MemoryIndex.UNIT_BYTES));
    return false;
  }
}
