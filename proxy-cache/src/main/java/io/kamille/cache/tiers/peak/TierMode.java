package io.kamille.cache.tiers.peak;

import java.util.Locale;

/** Which tiers requests use. */
public enum TierMode {
  /** Memory and disk. */
  NORMAL,
  /** Memory alone: requests neither read the disk nor have it written. */
  PEAK;

  /** The word in metrics and the API. */
  public String token() {
    return name().toLowerCase(Locale.ROOT);
  }
}
