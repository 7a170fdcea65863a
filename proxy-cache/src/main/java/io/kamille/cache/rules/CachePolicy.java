package io.kamille.cache.rules;

import static io.kamille.cache.rules.CacheControl.ABSENT;

/**
 * What an operator decided for a route where RFC 9111 leaves room.
 *
 * @param storesSetCookie whether a response with {@code Set-Cookie} may be stored and so be given
 *     to many, as RFC 9111 §7.3 has it; most origins do not mean that
 * @param ttlSeconds the lifetime of responses that are no errors, whatever the origin says of it;
 *     {@link CacheControl#ABSENT} for none
 * @param ofStatus lifetimes of responses that carry none, by status code
 * @param defaultSeconds the lifetime of other responses that carry none, instead of a guess
 *     (§4.2.2); {@link CacheControl#ABSENT} for none
 * @param stale how long stale responses may serve
 */
public record CachePolicy(
    boolean storesSetCookie,
    int ttlSeconds,
    StatusLifetimes ofStatus,
    int defaultSeconds,
    StaleLimits stale) {

  public static final CachePolicy DEFAULT =
      new CachePolicy(false, ABSENT, StatusLifetimes.NONE, ABSENT, StaleLimits.NONE);
}
