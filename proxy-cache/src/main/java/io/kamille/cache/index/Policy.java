package io.kamille.cache.index;

import java.util.Locale;

/** How an index chooses what to forget. */
public enum Policy {
  /** What was used often lately stays (Einziger, Friedman, Manes 2017). */
  TINYLFU,
  /** What was used last stays. */
  LRU;

  /** The name in settings, metrics and the API. */
  public String token() {
    return name().toLowerCase(Locale.ROOT);
  }
}
