package io.kamille.core.admission;

import org.jspecify.annotations.Nullable;

/**
 * How often one key may ask.
 *
 * @param intervalNanos between two requests in the long run
 * @param burst how many may come at once after a time without, at least one
 * @param field whose value is the key; null for the client's address, as for requests without it
 * @param ipv6PrefixLength how many bits of an IPv6 address tell clients apart
 */
public record RateLimitSettings(
    long intervalNanos, long burst, @Nullable String field, int ipv6PrefixLength) {

  public RateLimitSettings {
    if (intervalNanos < 1 || burst < 1) {
      throw new IllegalArgumentException(
          "interval: " + intervalNanos + ", burst: " + burst + " (expected: 1 or more)");
    }
  }
}
