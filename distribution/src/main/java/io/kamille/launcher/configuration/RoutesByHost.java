package io.kamille.launcher.configuration;

import io.kamille.core.route.Route;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The routes of a configuration by the hosts that they name. Immutable; any thread. */
public final class RoutesByHost {

  private final Map<String, List<RouteSettings>> routes = new LinkedHashMap<>();

  /** These routes, no two of which have the same host and path. */
  public RoutesByHost(List<RouteSettings> all) {
    for (RouteSettings route : all) {
      routes.computeIfAbsent(hostOf(route), host -> new ArrayList<>()).add(route);
    }
  }

  /** The host that it names, as the table of routes calls it: {@code *} for any. */
  public static String hostOf(RouteSettings route) {
    return route.host() == null ? Route.ANY_HOST : route.host();
  }

  /** The hosts that routes name, in the order of the file. */
  Set<String> hosts() {
    return routes.keySet();
  }

  /** Of the routes that name this very host, the most specific one for the path; null if none. */
  public @Nullable RouteSettings find(String host, String path) {
    RouteSettings longest = null;
    for (RouteSettings route : routes.getOrDefault(host, List.of())) {
      boolean isLonger = longest == null || route.path().length() > longest.path().length();
      if (isLonger && covers(route.path(), path)) {
        longest = route;
      }
    }
    return longest;
  }

  /** Whether each path with the prefix {@code path} has the prefix {@code shorter}, too. */
  private static boolean covers(String shorter, String path) {
    String below = shorter.endsWith("/") ? shorter : shorter + "/";
    return path.equals(shorter) || path.startsWith(below);
  }
}
