package io.kamille.cache.semantics;

/**
 * What an operator decided for a route where RFC 9111 leaves room.
 *
 * @param heuristic how a lifetime is guessed when none is given
 * @param defaultTtlSeconds the lifetime of a response that carries none, instead of a guess; {@link
 *     CacheControl#ABSENT} for no such lifetime
 * @param storesSetCookie whether a response with {@code Set-Cookie} may be stored and so be given
 *     to many, as RFC 9111 §7.3 has it; most origins do not mean that
 */
public record CachePolicy(
    HeuristicSettings heuristic, int defaultTtlSeconds, boolean storesSetCookie) {

  public static final CachePolicy DEFAULT =
      new CachePolicy(HeuristicSettings.DEFAULT, CacheControl.ABSENT, false);

  public CachePolicy {
    if (defaultTtlSeconds < CacheControl.ABSENT) {
      throw new IllegalArgumentException(
          "defaultTtlSeconds: " + defaultTtlSeconds + " (expected: >= 0, or -1 for none)");
    }
  }
}
