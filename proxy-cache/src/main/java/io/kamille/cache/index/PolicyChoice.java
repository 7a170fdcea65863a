package io.kamille.cache.index;

import java.util.Locale;

/** What an operator may say about the policy of an index. */
public enum PolicyChoice {
  /** The policy that hits more often, as far as a sample tells. */
  AUTO,
  TINYLFU,
  LRU;

  /** The word in settings, metrics and the API. */
  public String token() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The policy to begin with. */
  Policy first() {
    return this == LRU ? Policy.LRU : Policy.TINYLFU;
  }
}
