package io.kamille.cache.rules;

/**
 * What an operator decided for a route where RFC 9111 leaves room.
 *
 * @param heuristic how a lifetime is guessed when none is given
 * @param storesSetCookie whether a response with {@code Set-Cookie} may be stored and so be given
 *     to many, as RFC 9111 §7.3 has it; most origins do not mean that
 * @param lifetimes the lifetimes that the operator gives
 * @param stale how long stale responses may serve
 */
public record CachePolicy(
    HeuristicSettings heuristic, boolean storesSetCookie, Lifetimes lifetimes, StaleLimits stale) {

  public static final CachePolicy DEFAULT =
      new CachePolicy(HeuristicSettings.DEFAULT, CacheControl.ABSENT, false);

  /** A policy with no other lifetime than {@code defaultTtlSeconds}, or none if it is absent. */
  public CachePolicy(HeuristicSettings heuristic, int defaultTtlSeconds, boolean storesSetCookie) {
    this(
        heuristic,
        storesSetCookie,
        new Lifetimes(CacheControl.ABSENT, StatusLifetimes.NONE, defaultTtlSeconds),
        StaleLimits.NONE);
  }
}
