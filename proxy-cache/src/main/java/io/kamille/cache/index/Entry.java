package io.kamille.cache.index;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.Variants;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One key and what is under it. */
final class Entry extends Node {

  private final long high;
  private final long low;

  /** Written by who holds the lock of the index, or has taken the entry out; read by anybody. */
  private volatile @Nullable Variants variants;

  Entry(CacheKey key, Variants variants) {
    this.high = key.high();
    this.low = key.low();
    this.variants = variants;
  }

  boolean isOf(CacheKey key) {
    return low == key.low() && high == key.high();
  }

  CacheKey key() {
    return CacheKey.of(high, low);
  }

  long high() {
    return high;
  }

  @Override
  long hash() {
    return low;
  }

  /** What is under the key, or null if the entry has left. */
  @Nullable Variants variants() {
    return variants;
  }

  /** What is under the key, to who holds the lock, or has taken the entry out. */
  Variants present() {
    return Objects.requireNonNull(variants);
  }

  void put(Variants other) {
    variants = other;
  }

  /** What was under the key, when it has left the index. */
  Variants end() {
    Variants last = present();
    variants = null;
    return last;
  }
}
