package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** The last answer of each key that was not stored, for those who ask why. Any thread. */
final class Refusals {

  /*
   * One slot per hash and no chains, as for keys that are uncachable: a key may lose its slot to
   * another and then nothing is known of it; the memory is bounded whatever clients ask for.
   */
  private static final int SLOTS = 4096;

  private final AtomicReferenceArray<@Nullable Refusal> slots = new AtomicReferenceArray<>(SLOTS);

  void add(Refusal refusal) {
    slots.setRelease(slot(refusal.key()), refusal);
  }

  @Nullable Refusal find(CacheKey key) {
    Refusal refusal = slots.getAcquire(slot(key));
    return refusal != null && refusal.key().equals(key) ? refusal : null;
  }

  void remove(CacheKey key) {
    Refusal refusal = find(key);
    if (refusal != null) {
      slots.compareAndSet(slot(key), refusal, null);
    }
  }

  private static int slot(CacheKey key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & (SLOTS - 1);
  }
}
