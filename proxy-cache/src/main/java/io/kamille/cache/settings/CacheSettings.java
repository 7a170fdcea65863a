package io.kamille.cache.settings;

import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.rules.VaryBy;

/**
 * How one route uses the cache.
 *
 * @param policy what the operator decided where RFC 9111 leaves room
 * @param coding which responses are given content codings
 * @param maxObjectBytes the largest response stored, head and content
 * @param fillsRanges whether the whole is fetched when a client asks for a range of what is not
 *     stored
 * @param bypassCookies requests with one of these cookies pass the cache by
 * @param varyBy by what responses are told apart in any case
 * @param query which query parameters count
 * @param tagFields response fields with tags
 */
public record CacheSettings(
    CachePolicy policy,
    CompressionRules coding,
    long maxObjectBytes,
    boolean fillsRanges,
    NamePatterns bypassCookies,
    VaryBy varyBy,
    QueryRules query,
    TagFields tagFields) {

  /** What a route says for itself, within what holds for all. */
  public static CacheSettings of(RouteCacheSettings route, SharedCacheSettings shared) {
    return new CacheSettings(
        new CachePolicy(
            shared.storesSetCookie(),
            route.ttlSeconds(),
            route.statusLifetimes(),
            route.defaultTtlSeconds(),
            route.stale()),
        route.compresses() ? shared.compression() : CompressionRules.OFF,
        shared.maxObjectSizeBytes(),
        route.fillsRanges(),
        route.bypassing(),
        route.selecting(),
        route.queryRules(),
        shared.tagFields());
  }
}
