package io.kamille.launcher.appliance;

import io.kamille.admin.view.RequestExplanation;
import io.kamille.admin.view.RequestExplanation.MatchedRoute;
import io.kamille.cache.CacheHandler;
import io.kamille.cache.Explanation;
import io.kamille.cache.Explanation.Decision;
import io.kamille.cache.PurgeMethod;
import io.kamille.cache.semantics.Reason;
import io.kamille.core.http.RequestHead;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Explains what becomes of requests under one configuration. Immutable; any thread.
 *
 * @param routes that requests are routed by
 * @param upstreams the name of each route's upstream, by the name of the route
 * @param purgeMethod what comes before all routes
 */
record RouteExplainer(RouteTable routes, Map<String, String> upstreams, PurgeMethod purgeMethod) {

  RouteExplainer {
    upstreams = Map.copyOf(upstreams);
  }

  RequestExplanation explain(RequestHead request) {
    Route route = routes.find(request);
    if (route == null) {
      return new RequestExplanation(null, decided(Decision.REFUSE, noRoute(request)));
    }
    CacheHandler cache = route.handler() instanceof CacheHandler handler ? handler : null;
    MatchedRoute matched =
        new MatchedRoute(
            route.name(),
            route.host(),
            route.pathPrefix(),
            upstreams.getOrDefault(route.name(), ""),
            cache != null);
    return new RequestExplanation(matched, along(route, cache, request));
  }

  private Explanation along(Route route, @Nullable CacheHandler cache, RequestHead request) {
    Reason routed =
        new Reason(
            "route",
            "RFC 9110 §7.4",
            request.authority() + request.path(),
            "it takes the route for host " + route.host() + ", path " + route.pathPrefix());
    Explanation purge = purgeMethod.explain(request);
    if (purge != null) {
      return after(routed, purge);
    }
    if (route.handler() instanceof CacheHandler.Bypass bypass) {
      Reason bypassed =
          new Reason(
              "path",
              "RFC 9111 §2",
              "routes[].cache.bypass-paths: " + route.pathPrefix(),
              "it is forwarded, and nothing is stored");
      return new Explanation(
          Decision.PASS, bypass.reason(request), null, List.of(routed, bypassed));
    }
    if (cache == null) {
      Reason uncached =
          new Reason(
              "cache-off",
              "RFC 9111 §2",
              "routes[].cache.enabled: off",
              "it is forwarded, and nothing is stored");
      return decided(Decision.PASS, routed, uncached);
    }
    return after(routed, cache.explain(request));
  }

  private static Explanation after(Reason routed, Explanation explanation) {
    List<Reason> steps = new ArrayList<>(explanation.because());
    steps.addFirst(routed);
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
