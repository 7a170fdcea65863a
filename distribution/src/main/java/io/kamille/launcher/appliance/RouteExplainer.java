package io.kamille.launcher.appliance;

import io.kamille.admin.view.RequestExplanation;
import io.kamille.admin.view.RequestExplanation.MatchedRoute;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.station.CacheBypass;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cache.station.PurgeMethod;
import io.kamille.core.answer.FileHandler;
import io.kamille.core.answer.Redirect;
import io.kamille.core.answer.RequestId;
import io.kamille.core.answer.RuledHandler;
import io.kamille.core.answer.StaticResponse;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.choose.SplitHandler;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Explains what becomes of requests under one configuration. Immutable; any thread.
 *
 * @param routes that requests are routed by
 * @param upstreams the name of each route's upstream, by the name of the route
 * @param access who may use each route, by the name of the route
 * @param purgeMethod what comes before all routes
 */
record RouteExplainer(
    RouteTable routes,
    Map<String, String> upstreams,
    Map<String, AccessList> access,
    PurgeMethod purgeMethod) {

  private static final int NO_RANGE = -1;

  /** What a prefix of an IPv4 address has in front, as that of a mapped IPv6 address. */
  private static final int MAPPED_BITS = 96;

  RouteExplainer {
    upstreams = Map.copyOf(upstreams);
    access = Map.copyOf(access);
  }

  /**
   * What becomes of a request.
   *
   * @param client whose it is; null to leave that open
   */
  RequestExplanation explain(RequestHead request, @Nullable InetAddress client) {
    Route route = routes.find(request);
    if (route == null) {
      return new RequestExplanation(null, decided(Decision.REFUSE, noRoute(request)));
    }
    CacheHandler cache =
        SplitHandler.usual(RequestId.within(route.handler())) instanceof CacheHandler handler
            ? handler
            : null;
    MatchedRoute matched =
        new MatchedRoute(
            route.name(),
            route.host(),
            route.pathPrefix(),
            upstreams.getOrDefault(route.name(), ""),
            cache != null);
    return new RequestExplanation(matched, along(route, cache, request, client));
  }

  private Explanation along(
      Route route,
      @Nullable CacheHandler cache,
      RequestHead request,
      @Nullable InetAddress client) {
    Reason routed =
        new Reason(
            "route",
            "RFC 9110 §7.4",
            request.authority() + request.path(),
            "it takes the route for host "
                + route.host()
                + ", path "
                + route.pathPrefix()
                + (SplitHandler.isSplit(RequestId.within(route.handler()))
                    ? "; routes[].split sends a part of the clients past the cache"
                    : ""));
    Explanation purge = purgeMethod.explain(request);
    if (purge != null) {
      return after(purge, routed);
    }
    AccessList list = access.getOrDefault(route.name(), AccessList.ALL);
    if (list.isOpen()) {
      return after(answered(route, cache, request), routed);
    }
    Reason entry = entry(list, client);
    return client == null || list.admits(client)
        ? after(answered(route, cache, request), routed, entry)
        : decided(Decision.REFUSE, routed, entry);
  }

  private static Reason entry(AccessList list, @Nullable InetAddress client) {
    if (client == null) {
      return new Reason(
          "access",
          "routes[].access",
          "no client given",
          "a client that the route is not for gets 403 (Forbidden): give one to know");
    }
    String found =
        client.getHostAddress()
            + ": allow "
            + found(list.allow(), client)
            + ", deny "
            + found(list.deny(), client);
    return new Reason(
        "access",
        "routes[].access",
        found,
        list.admits(client)
            ? "the route is for this client"
            : "the route is not for this client: 403 (Forbidden)");
  }

  /** The smallest range with that client, by its prefix. */
  private static String found(AddressRanges ranges, InetAddress client) {
    if (ranges.isEmpty()) {
      return "is empty";
    }
    int prefix = ranges.longestPrefix(client);
    if (prefix == NO_RANGE) {
      return "has no range with it";
    }
    return "has a range /" + (client instanceof Inet4Address ? prefix - MAPPED_BITS : prefix);
  }

  private Explanation answered(Route route, @Nullable CacheHandler cache, RequestHead request) {
    ExchangeHandler usual = SplitHandler.usual(RequestId.within(route.handler()));
    if (usual instanceof CacheBypass bypass) {
      Reason bypassed =
          new Reason(
              "path",
              "RFC 9111 §2",
              "routes[].cache.bypass-paths: " + route.pathPrefix(),
              "it is forwarded, and nothing is stored");
      return new Explanation(Decision.PASS, bypass.reason(request), null, List.of(bypassed));
    }
    if (cache == null && answersItself(usual)) {
      Reason own =
          new Reason(
              "own-answer",
              "RFC 9110 §3.6",
              "routes[]." + upstreams.getOrDefault(route.name(), ""),
              "Kamille answers, and asks no origin");
      return decided(Decision.PASS, own);
    }
    if (cache == null) {
      Reason uncached =
          new Reason(
              "cache-off",
              "RFC 9111 §2",
              "routes[].cache.enabled: off",
              "it is forwarded, and nothing is stored");
      return decided(Decision.PASS, uncached);
    }
    return cache.explain(request);
  }

  private static boolean answersItself(ExchangeHandler handler) {
    ExchangeHandler end = handler instanceof RuledHandler ruled ? ruled.next() : handler;
    return end instanceof FileHandler || end instanceof Redirect || end instanceof StaticResponse;
  }

  private static Explanation after(Explanation explanation, Reason... before) {
    List<Reason> steps = new ArrayList<>(List.of(before));
    steps.addAll(explanation.because());
    return new Explanation(explanation.decision(), explanation.forward(), explanation.key(), steps);
  }

  private Reason noRoute(RequestHead request) {
    return routes.knowsHost(request)
        ? new Reason(
            "no-route",
            "RFC 9110 §15.5.5",
            request.path(),
            "no route is for this path: 404 (Not Found)")
        : new Reason(
            "no-route",
            "RFC 9110 §7.4",
            request.authority(),
            "no route is for this host: 421 (Misdirected Request)");
  }

  private static Explanation decided(Decision decision, Reason... steps) {
    return new Explanation(decision, null, null, List.of(steps));
  }
}
