package io.kamille.cache.tiers.peak;

import java.util.Locale;

/** What an operator may say about peak mode. */
public enum PeakChoice {
  /** By evidence. */
  AUTO,
  /** Never. */
  OFF,
  /** Always. */
  FORCED;

  /** The word in settings and the API. */
  public String token() {
    return name().toLowerCase(Locale.ROOT);
  }
}
