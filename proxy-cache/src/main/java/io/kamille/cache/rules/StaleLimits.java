package io.kamille.cache.rules;

import static io.kamille.cache.rules.CacheControl.ABSENT;

import java.time.Duration;

/**
 * How long an operator lets stale responses serve, in seconds (RFC 9111 §4.2.4, RFC 5861).
 *
 * @param whileRevalidateSeconds while they are validated, where the response does not say; 0 for
 *     not at all
 * @param ifErrorSeconds in place of an error, where the response does not say; 0 for not at all
 * @param maxSeconds at most, whatever response and request say
 * @param after how long a response head may take before a stored response that may serve in place
 *     of an error does so; zero for as long as the time-outs let it. {@code LeaderReply} waits for
 *     it
 */
public record StaleLimits(
    int whileRevalidateSeconds, int ifErrorSeconds, int maxSeconds, Duration after) {

  /*
   * §4.2.4 lets nobody serve stale what no-cache, must-revalidate, proxy-revalidate or s-maxage
   * protect, and what is never fresh was not meant to be reused at all: the operator's words are
   * for the rest.
   */

  /** Only what response and request say. */
  public static final StaleLimits NONE = new StaleLimits(0, 0, Integer.MAX_VALUE);

  /** Limits that leave a slow origin its time. */
  public StaleLimits(int whileRevalidateSeconds, int ifErrorSeconds, int maxSeconds) {
    this(whileRevalidateSeconds, ifErrorSeconds, maxSeconds, Duration.ZERO);
  }

  /** How long such a response serves while it is validated (RFC 5861 §3). */
  int whileRevalidateSeconds(CacheControl response, Freshness freshness) {
    return limited(
        response.seconds(Directive.STALE_WHILE_REVALIDATE),
        whileRevalidateSeconds,
        response,
        freshness);
  }

  /** How long such a response serves in place of an error (RFC 5861 §4). */
  int ifErrorSeconds(CacheControl response, Freshness freshness) {
    return limited(response.seconds(Directive.STALE_IF_ERROR), ifErrorSeconds, response, freshness);
  }

  private int limited(int said, int unsaid, CacheControl response, Freshness freshness) {
    if (said != ABSENT) {
      return Math.min(said, maxSeconds);
    }
    return mayAdd(response, freshness) ? Math.min(unsaid, maxSeconds) : 0;
  }

  private static boolean mayAdd(CacheControl response, Freshness freshness) {
    return freshness.lifetimeSeconds() > 0
        && !response.has(Directive.NO_CACHE)
        && !response.has(Directive.MUST_REVALIDATE)
        && !response.has(Directive.PROXY_REVALIDATE)
        && response.seconds(Directive.S_MAXAGE) == ABSENT;
  }
}
