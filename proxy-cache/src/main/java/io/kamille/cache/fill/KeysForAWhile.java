package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** Keys for which something is better not tried for a while. Any thread. */
final class KeysForAWhile {

  /*
   * One slot per hash and no chains: a key that loses its slot to another costs one wait too many,
   * and the memory is bounded whatever clients ask for.
   */
  private static final int SLOTS = 4096;

  private record Entry(CacheKey key, long untilNanos) {}

  private final AtomicReferenceArray<@Nullable Entry> slots = new AtomicReferenceArray<>(SLOTS);

  void add(CacheKey key, long untilNanos) {
    slots.set(slot(key), new Entry(key, untilNanos));
  }

  boolean contains(CacheKey key, long nowNanos) {
    return remainingNanos(key, nowNanos) > 0;
  }

  /** For how much longer the key is here; not more than 0 if it is not. */
  long remainingNanos(CacheKey key, long nowNanos) {
    Entry entry = slots.get(slot(key));
    return entry != null && entry.key.equals(key) ? entry.untilNanos - nowNanos : 0;
  }

  void remove(CacheKey key) {
    Entry entry = slots.get(slot(key));
    if (entry != null && entry.key.equals(key)) {
      slots.compareAndSet(slot(key), entry, null);
    }
  }

  private static int slot(CacheKey key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & (SLOTS - 1);
  }
}
