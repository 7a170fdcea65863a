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
 * @param mayCollapse whether requests wait for one that was forwarded before them
 * @param background what is fetched without a client waiting for it
 * @param bypassCookies requests with one of these cookies pass the cache by
 * @param varyBy by what responses are told apart in any case
 * @param query which query parameters count
 * @param tagFields response fields with tags
 */
public record CacheSettings(
    CachePolicy policy,
    CompressionRules coding,
    long maxObjectBytes,
    boolean mayCollapse,
    BackgroundSettings background,
    NamePatterns bypassCookies,
    VaryBy varyBy,
    QueryRules query,
    TagFields tagFields) {

  /** What a route says for itself, within what holds for all. */
  public static CacheSettings of(RouteCacheSettings route, SharedCacheSettings shared) {
    Long ofRoute = route.maxObjectSizeBytes();
    // The shared limit is that of the start, which a reload cannot raise.
    return new CacheSettings(
        new CachePolicy(
            shared.heuristic().isEnabled(),
            shared.storesSetCookie(),
            route.ttlSeconds(),
            route.statusLifetimes(),
            route.defaultTtlSeconds(),
            route.stale()),
        route.compresses() ? shared.compression() : CompressionRules.OFF,
        ofRoute == null
            ? shared.maxObjectSizeBytes()
            : Math.min(ofRoute, shared.maxObjectSizeBytes()),
        shared.collapse().isEnabled(),
        route.background(),
        route.bypassing(),
        route.selecting(),
        route.queryRules(),
        shared.tagFields());
  }
}
