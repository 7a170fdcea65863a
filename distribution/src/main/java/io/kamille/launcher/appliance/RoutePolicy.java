package io.kamille.launcher.appliance;

import io.kamille.cache.BackgroundSettings;
import io.kamille.cache.CacheSettings;
import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.semantics.CacheControl;
import io.kamille.cache.semantics.CachePolicy;
import io.kamille.cache.semantics.CodingRules;
import io.kamille.cache.semantics.HeuristicSettings;
import io.kamille.cache.semantics.Lifetimes;
import io.kamille.cache.semantics.StaleLimits;
import io.kamille.cache.semantics.StatusLifetimes;
import io.kamille.cache.semantics.VaryBy;
import io.kamille.launcher.configuration.CacheSettings.Heuristic;
import io.kamille.launcher.configuration.CompressionSettings;
import io.kamille.launcher.configuration.RouteCacheSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What the configuration says of caching, as the cache takes it. Stateless; any thread. */
final class RoutePolicy {

  private RoutePolicy() {}

  /**
   * How a route uses the cache.
   *
   * @param route what it says itself
   * @param shared what holds for all routes
   */
  static CacheSettings of(
      RouteCacheSettings route, io.kamille.launcher.configuration.CacheSettings shared) {
    return new CacheSettings(
        new CachePolicy(
            heuristic(shared.heuristic()),
            shared.storesSetCookie(),
            lifetimes(route),
            stale(route.stale())),
        coding(route, shared.compression()),
        maxObjectBytes(route.maxObjectSizeBytes(), shared.maxObjectSizeBytes()),
        shared.collapse().isEnabled(),
        shared.collapse().waitTimeout(),
        shared.statusField(),
        shared.statusKey(),
        background(route),
        NamePatterns.of(route.bypass().cookies()),
        VaryBy.of(route.varyBy()),
        query(route.query()));
  }

  private static QueryRules query(RouteCacheSettings.Query query) {
    List<String> keep = query.keep();
    return new QueryRules(
        NamePatterns.of(keep == null ? query.ignore() : keep), keep != null, query.isSorted());
  }

  private static BackgroundSettings background(RouteCacheSettings route) {
    int percent = (int) Math.ceil(route.refreshAhead().orElse(0.0) * 100);
    return new BackgroundSettings(percent, route.fillsRanges());
  }

  private static CodingRules coding(RouteCacheSettings route, CompressionSettings how) {
    return route.compresses()
        ? new CodingRules(how.codings(), how.types(), how.minSizeBytes(), how.maxSizeBytes())
        : CodingRules.OFF;
  }

  /** The shared limit is that of the start, which a reload cannot raise. */
  private static long maxObjectBytes(@Nullable Long ofRoute, long shared) {
    return ofRoute == null ? shared : Math.min(ofRoute, shared);
  }

  private static HeuristicSettings heuristic(Heuristic guess) {
    return guess.isEnabled()
        ? new HeuristicSettings(
            true, (int) Math.round(guess.fraction() * 100), seconds(guess.limit()))
        : HeuristicSettings.OFF;
  }

  private static Lifetimes lifetimes(RouteCacheSettings route) {
    Map<String, Integer> ofStatus =
        route.statusTtl().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, status -> seconds(status.getValue())));
    return new Lifetimes(
        secondsOrAbsent(route.ttl()),
        StatusLifetimes.of(ofStatus),
        secondsOrAbsent(route.defaultTtl()));
  }

  private static StaleLimits stale(RouteCacheSettings.Stale stale) {
    return new StaleLimits(
        seconds(stale.whileRevalidate()),
        seconds(stale.ifError()),
        stale.max() == null ? Integer.MAX_VALUE : seconds(stale.max()));
  }

  private static int secondsOrAbsent(@Nullable Duration duration) {
    return duration == null ? CacheControl.ABSENT : seconds(duration);
  }

  private static int seconds(Duration duration) {
    return (int) Math.min(duration.toSeconds(), Integer.MAX_VALUE);
  }
}
