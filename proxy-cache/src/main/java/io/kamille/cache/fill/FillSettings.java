package io.kamille.cache.fill;

import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CodingRules;
import io.kamille.cache.rules.VaryBy;

/**
 * What a route decides about storing.
 *
 * @param policy where RFC 9111 leaves room
 * @param coding which responses are given content codings
 * @param maxObjectBytes the largest response stored, head and content
 * @param finishAloneBytes a fill goes on when its client leaves and nobody follows while no more
 *     content than this is to come, or, if nobody knows how much is, while no more has come
 * @param uncachableNanos how long requests are not held back for a key whose response could not be
 *     shared
 * @param varyBy request fields by which responses are told apart in any case
 */
public record FillSettings(
    CachePolicy policy,
    CodingRules coding,
    long maxObjectBytes,
    long finishAloneBytes,
    long uncachableNanos,
    VaryBy varyBy) {

  public FillSettings {
    if (maxObjectBytes < 0) {
      throw new IllegalArgumentException(
          "maxObjectBytes: " + maxObjectBytes + " (expected: zero or more)");
    }
  }
}
