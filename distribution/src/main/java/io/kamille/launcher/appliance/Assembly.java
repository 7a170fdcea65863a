package io.kamille.launcher.appliance;

import io.kamille.cache.Cache;
import io.kamille.cache.CacheContents;
import io.kamille.cache.CacheHandler;
import io.kamille.cache.CacheOperations;
import io.kamille.cache.DiskSettings;
import io.kamille.cache.PurgeMethod;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.peak.PeakSettings;
import io.kamille.cache.tier.DiskCopies.Admission;
import io.kamille.core.admission.AccessList;
import io.kamille.core.admission.Overload;
import io.kamille.core.admission.RateLimit;
import io.kamille.core.admission.RouteGate;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import io.kamille.core.route.Router;
import io.kamille.core.time.WallClock;
import io.kamille.core.upstream.Origin;
import io.kamille.core.upstream.OriginNames;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RateLimitSettings;
import io.kamille.launcher.configuration.RateLimitSettings.Counts;
import io.kamille.launcher.configuration.RouteSettings;
import java.io.IOException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * The chain of stations, and the only place that knows its order: PURGE, router, cache, upstream.
 * Any thread; one reload at a time.
 */
final class Assembly implements AutoCloseable {

  /*
   * The cache lives as long as the process: a reload gives the routes new handlers over the same
   * store. Upstreams that are the same go on; Upstreams says what becomes of the others.
   */
  private final WallClock clock = WallClock.system();
  private final OriginNames names;
  private final Router router = new Router(RouteTable.of(List.of()));
  private final MetricRegistry registry;
  private final Overload overload;
  private final Cache cache;
  private final PurgeMethod purgeMethod;
  private Optional<PeakSettings> peak;
  private final LongAdder overRate = new LongAdder();
  private final Upstreams upstreams;
  // Volatile: replaced by whoever reloads, read by the control plane.
  private volatile Routing routing = new Routing();

  /**
   * The chain of that configuration.
   *
   * @param overload asked about what would be forwarded
   * @throws IOException if the directory of the disk tier cannot be had
   */
  Assembly(Configuration configuration, MetricRegistry registry, Overload overload)
      throws IOException {
    this(configuration, registry, overload, OriginNames.open());
  }

  /**
   * The same.
   *
   * @param names looks origins up; ours from now on
   */
  Assembly(
      Configuration configuration, MetricRegistry registry, Overload overload, OriginNames names)
      throws IOException {
    this.names = names;
    this.registry = registry;
    this.overload = overload;
    upstreams = new Upstreams(names, registry, clock);
    cache = openCache(configuration);
    cache.routes(this::queryRules);
    purgeMethod = cache.purgeMethod(router, request -> router.table().find(request) != null);
    peak = configuration.cache().disk().map(Assembly::peak);
    reload(configuration);
    registry.counting(Appliance.REFUSED_REQUESTS, overRate::sum, "rate");
  }

  private QueryRules queryRules(RequestHead request) {
    Route route = router.table().find(request);
    return route != null && route.handler() instanceof CacheHandler caching
        ? caching.query()
        : QueryRules.NONE;
  }

  private Cache openCache(Configuration configuration) throws IOException {
    long capacityBytes = configuration.cache().memoryCapacityBytes();
    var from = configuration.cache().sendfileFromBytes();
    var disk = configuration.cache().disk();
    if (disk.isPresent()) {
      return Cache.open(
          capacityBytes, from.orElse(Long.MAX_VALUE), settings(disk.get()), registry, clock);
    }
    return from.isPresent()
        ? Cache.open(capacityBytes, from.get(), registry, clock)
        : Cache.open(capacityBytes, registry, clock);
  }

  private static DiskSettings settings(io.kamille.launcher.configuration.DiskSettings disk) {
    return new DiskSettings(
        disk.path(),
        disk.capacityBytes(),
        switch (disk.admit()) {
          case SECOND_REQUEST -> Admission.SECOND_REQUEST;
          case ALWAYS -> Admission.ALWAYS;
        },
        disk.keepsMemory(),
        disk.sendFromBytes().orElse(Long.MAX_VALUE),
        peak(disk));
  }

  private static PeakSettings peak(io.kamille.launcher.configuration.DiskSettings disk) {
    return new PeakSettings(disk.peak(), disk.hours(), ZoneId.systemDefault());
  }

  /** What was put on the running process stays unless the configuration has changed in that. */
  private void reloadPeak(Configuration configuration) {
    var next = configuration.cache().disk().map(Assembly::peak);
    if (!next.equals(peak)) {
      peak = next;
      cache.operations().peak().ifPresent(watch -> next.ifPresent(watch::follow));
    }
  }

  /** The station that every request comes to first. */
  ExchangeHandler entrance() {
    return purgeMethod;
  }

  CacheOperations cache() {
    return cache.operations();
  }

  CacheContents cacheContents() {
    return cache.contents();
  }

  /** What explains requests under the present configuration. */
  RouteExplainer explainer() {
    Routing now = routing;
    return new RouteExplainer(now.table, now.upstreamOf, now.accessOf, purgeMethod);
  }

  /** The origins of each upstream, by its name. */
  Map<String, List<Origin>> origins() {
    return upstreams.origins();
  }

  /** Routes by this configuration from the next exchange on. */
  void reload(Configuration configuration) {
    Upstreams.Next next = upstreams.next(configuration);
    Routing routed = routing(configuration, next);
    router.swap(routed.table);
    routing = routed;
    next.putInForce();
    purgeMethod.allow(configuration.cache().purgeRanges());
    cache.operations().choose(policy(configuration));
    reloadPeak(configuration);
  }

  private Routing routing(Configuration configuration, Upstreams.Next next) {
    try {
      return new Routing(configuration, next);
    } catch (Throwable fault) {
      next.abandon();
      throw fault;
    }
  }

  @Override
  public void close() {
    upstreams.close();
    names.close();
  }

  /** Gives the memory back. Comes after the last loop has ended. */
  void closeCache() {
    cache.close();
  }

  /** The routes of one configuration, with what is known of them by name; swapped whole. */
  private final class Routing {

    private final Map<String, String> upstreamOf = new LinkedHashMap<>();
    private final Map<String, AccessList> accessOf = new LinkedHashMap<>();
    private final Map<String, RateLimit> rateLimits = new LinkedHashMap<>();
    private final RouteTable table;

    /** None. */
    Routing() {
      table = RouteTable.of(List.of());
    }

    Routing(Configuration configuration, Upstreams.Next next) {
      table = RouteTable.of(routes(configuration, next));
    }

    /** The routes, and one more for each path of theirs that passes the cache by. */
    private List<Route> routes(Configuration configuration, Upstreams.Next next) {
      Map<String, Route> routes = new LinkedHashMap<>();
      List<Route> bypassed = new ArrayList<>();
      for (RouteSettings settings : configuration.routes()) {
        String host = settings.host() == null ? Route.ANY_HOST : settings.host();
        String name = host + settings.path();
        RouteGate rate = rate(name, settings, configuration.limits().client().ipv6PrefixLength());
        RouteGate gate = gate(settings, rate);
        ExchangeHandler handler = next.handler(settings);
        if (settings.cache().isEnabled()) {
          CacheHandler caching =
              cache.handler(
                  handler,
                  RoutePolicy.of(settings.cache(), configuration.cache()),
                  countsForwarded(settings) ? overload.and(rate) : overload);
          handler = caching;
          for (String path : settings.cache().bypass().paths()) {
            bypassed.add(new Route(name, host, path, caching.bypass(), gate));
          }
        }
        routes.put(name, new Route(name, host, settings.path(), handler, gate));
        upstreamOf.put(name, settings.upstream());
        accessOf.put(name, settings.access().list());
      }
      bypassed.forEach(route -> routes.putIfAbsent(route.host() + route.pathPrefix(), route));
      return List.copyOf(routes.values());
    }

    /** Asked about every request of the route. */
    private RouteGate gate(RouteSettings route, RouteGate rate) {
      AccessList access = route.access().list();
      RouteGate first = access.isOpen() ? RouteGate.OPEN : RouteGate.of(access);
      RouteGate limited =
          route.rateLimit().isEmpty() || countsForwarded(route) ? first : first.and(rate);
      return route.cache().isEnabled() ? limited : limited.and(overload);
    }

    private static boolean countsForwarded(RouteSettings route) {
      return route.cache().isEnabled()
          && route.rateLimit().map(RateLimitSettings::counts).stream()
              .anyMatch(counts -> counts == Counts.FORWARDED);
    }

    /** The limit of the configuration before this one goes on, if it is the same. */
    private RouteGate rate(String route, RouteSettings settings, int ipv6PrefixLength) {
      if (settings.rateLimit().isEmpty()) {
        return RouteGate.OPEN;
      }
      var limit = settings.rateLimit().get();
      var asked =
          new io.kamille.core.admission.RateLimitSettings(
              limit.rate().intervalNanos(), limit.burst(), limit.key().field(), ipv6PrefixLength);
      RateLimit last = routing.rateLimits.get(route);
      RateLimit rate =
          last != null && last.settings().equals(asked)
              ? last
              : new RateLimit(asked, route, overRate, clock::nanos);
      rateLimits.put(route, rate);
      return rate;
    }
  }

  private static PolicyChoice policy(Configuration configuration) {
    return switch (configuration.cache().policy()) {
      case AUTO -> PolicyChoice.AUTO;
      case TINYLFU -> PolicyChoice.TINYLFU;
      case LRU -> PolicyChoice.LRU;
    };
  }
}
