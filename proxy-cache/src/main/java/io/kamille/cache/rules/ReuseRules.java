package io.kamille.cache.rules;

/**
 * What an origin's directives and a route's policy make of the reuse of a response, without
 * anything that only this one response has: so that thousands share one. Immutable; any thread.
 *
 * @param status its status code
 * @param freshness its lifetime and where that comes from
 * @param isValidatedAlways no-cache: never reused without validation (RFC 9111 §5.2.2.4)
 * @param isValidatedOnceStale must-revalidate or proxy-revalidate: never reused stale (§5.2.2.2,
 *     §5.2.2.8)
 * @param hasSharedMaxAge s-maxage: no client can have it stale (§5.2.2.10)
 * @param isImmutable immutable: while it is fresh, its age is no reason to ask (RFC 8246 §2)
 * @param staleWhileRevalidateSeconds RFC 5861 §3; 0 for none
 * @param staleIfErrorSeconds RFC 5861 §4; 0 for none
 * @param maxStaleSeconds how long it may serve stale at most, whatever a request says
 */
public record ReuseRules(
    int status,
    Freshness freshness,
    boolean isValidatedAlways,
    boolean isValidatedOnceStale,
    boolean hasSharedMaxAge,
    boolean isImmutable,
    int staleWhileRevalidateSeconds,
    int staleIfErrorSeconds,
    int maxStaleSeconds) {

  /** What those take on the heap that nobody shares. */
  static final int HEAP_BYTES = 80;

  /*
   * Those met last, one for each of so many hash values. Threads may overwrite each other's: then
   * two equal ones live side by side. An origin whose every response has another lifetime fills the
   * places with what nobody shares, and loses what sharing saves.
   */
  private static final ReuseRules[] MET = new ReuseRules[1 << 10];

  /** What a response with these directives may be reused by, under that policy. */
  static ReuseRules of(int status, CacheControl control, CachePolicy policy, Freshness freshness) {
    return new ReuseRules(
            status,
            freshness,
            control.has(Directive.NO_CACHE),
            control.has(Directive.MUST_REVALIDATE) || control.has(Directive.PROXY_REVALIDATE),
            control.seconds(Directive.S_MAXAGE) != CacheControl.ABSENT,
            control.has(Directive.IMMUTABLE),
            policy.stale().whileRevalidateSeconds(control, freshness),
            policy.stale().ifErrorSeconds(control, freshness),
            policy.stale().maxSeconds())
        .shared();
  }

  /** These, or equal ones that others have already. */
  public ReuseRules shared() {
    int place = (hashCode() * 0x9E3779B1) >>> 22;
    ReuseRules met = MET[place];
    if (equals(met)) {
      return met;
    }
    MET[place] = this;
    return this;
  }

  /** The same with another lifetime and less patience, as after a soft purge. */
  ReuseRules with(int lifetimeSeconds, int staleWhileRevalidateSeconds, int maxStaleSeconds) {
    return new ReuseRules(
        status,
        new Freshness(lifetimeSeconds, freshness.source()),
        isValidatedAlways,
        isValidatedOnceStale,
        hasSharedMaxAge,
        isImmutable,
        staleWhileRevalidateSeconds,
        staleIfErrorSeconds,
        maxStaleSeconds);
  }
}
