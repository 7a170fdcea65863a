package io.kamille.cache.settings;

import io.kamille.cache.rules.StoredFacts;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;

/**
 * What a route fetches from its origins without a client waiting for it, beyond what responses ask
 * for by {@code stale-while-revalidate}.
 *
 * @param refreshAheadPercent a hit in the last part of a response's lifetime, so many hundredths,
 *     has it fetched or validated; 0 for never
 * @param fillsRanges whether the whole is fetched when a client asks for a range of what is not
 *     stored
 */
public record BackgroundSettings(int refreshAheadPercent, boolean fillsRanges) {

  public static final BackgroundSettings NONE = new BackgroundSettings(0, false);

  /** Whether a fresh response is so near its end that a GET of it has it fetched again. */
  public boolean isDue(RequestHead request, StoredFacts stored, long nowEpochSeconds) {
    return refreshAheadPercent > 0
        && request.method() == Method.GET
        && stored.ttlSeconds(nowEpochSeconds) * 100L
            <= (long) stored.freshness().lifetimeSeconds() * refreshAheadPercent;
  }
}
