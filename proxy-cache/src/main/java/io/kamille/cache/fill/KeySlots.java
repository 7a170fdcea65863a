package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The last thing that is remembered of each key. Any thread. */
final class KeySlots<T extends KeySlots.Entry> {

  /*
   * One slot per hash and no chains: a key may lose its slot to another, and then nothing is known
   * of it, which costs one wait too many at most; the memory is bounded whatever clients ask for.
   */
  private static final int SLOTS = 4096;

  /** What is remembered of one key. */
  interface Entry {

    CacheKey key();
  }

  private final AtomicReferenceArray<@Nullable T> slots = new AtomicReferenceArray<>(SLOTS);

  void add(T entry) {
    slots.set(slot(entry.key()), entry);
  }

  @Nullable T find(CacheKey key) {
    T entry = slots.get(slot(key));
    return entry != null && entry.key().equals(key) ? entry : null;
  }

  void remove(CacheKey key) {
    T entry = find(key);
    if (entry != null) {
      slots.compareAndSet(slot(key), entry, null);
    }
  }

  private static int slot(CacheKey key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & (SLOTS - 1);
  }
}
