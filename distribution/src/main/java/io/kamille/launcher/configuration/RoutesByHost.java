package io.kamille.launcher.configuration;

import io.kamille.core.route.Route;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The routes of a configuration by the hosts that they name. Immutable; any thread. */
public final class RoutesByHost {

  /**
   * A host and path that requests are routed by.
   *
   * @param name of the route
   * @param isPastCache whether requests pass the cache by because of their path
   */
  public record Place(
      RouteSettings settings, String name, String host, String path, boolean isPastCache) {}

  private final Map<String, Map<String, List<RouteSettings>>> routes = new LinkedHashMap<>();

  /** These routes, no two of which have the same host, path and match. */
  public RoutesByHost(List<RouteSettings> all) {
    for (RouteSettings route : all) {
      routes
          .computeIfAbsent(hostOf(route), host -> new HashMap<>())
          .computeIfAbsent(route.path(), path -> new ArrayList<>())
          .add(route);
    }
  }

  /** The host that it names, as the table of routes calls it: {@code *} for any. */
  public static String hostOf(RouteSettings route) {
    return route.host() == null ? Route.ANY_HOST : route.host();
  }

  /** What log and metrics call it. */
  public static String nameOf(RouteSettings route) {
    return hostOf(route) + route.path() + route.match();
  }

  /** The places of these routes, and one more for each path of theirs that bypasses the cache. */
  public static List<Place> places(List<RouteSettings> all) {
    RoutesByHost byHost = new RoutesByHost(all);
    Map<String, Place> places = new LinkedHashMap<>();
    for (RouteSettings route : all) {
      String name = nameOf(route);
      places.put(name, new Place(route, name, hostOf(route), route.path(), false));
    }
    for (RouteSettings route : all) {
      String host = hostOf(route);
      for (String path : byHost.bypassPaths(route)) {
        RouteSettings owner = byHost.find(host, path);
        if (owner == null || owner.path().length() <= route.path().length()) {
          boolean isPast = bypasses(route).stream().anyMatch(own -> covers(own, path));
          places.putIfAbsent(
              host + path + route.match(), new Place(route, nameOf(route), host, path, isPast));
        }
      }
    }
    return List.copyOf(places.values());
  }

  /** Those of all routes with its host and path: each must have its place wherever one has. */
  private Set<String> bypassPaths(RouteSettings route) {
    Set<String> paths = new LinkedHashSet<>();
    at(hostOf(route), route.path()).forEach(other -> paths.addAll(bypasses(other)));
    return paths;
  }

  private static List<String> bypasses(RouteSettings route) {
    return route.isCached() ? route.cache().bypassPaths() : List.of();
  }

  /** The hosts that routes name, in the order of the file. */
  Set<String> hosts() {
    return routes.keySet();
  }

  /**
   * Of the routes that name this very host, the most specific one that takes all requests for the
   * path; null if none does.
   */
  public @Nullable RouteSettings find(String host, String path) {
    RouteSettings found = whole(host, path);
    for (int slash = path.lastIndexOf('/'); found == null && slash >= 0; ) {
      RouteSettings below = whole(host, path.substring(0, slash + 1));
      found = below == null ? whole(host, path.substring(0, slash)) : below;
      slash = path.lastIndexOf('/', slash - 1);
    }
    return found;
  }

  /** The one of very that host and path that takes all requests. */
  private @Nullable RouteSettings whole(String host, String path) {
    return at(host, path).stream()
        .filter(route -> route.match().size() == 0)
        .findFirst()
        .orElse(null);
  }

  private List<RouteSettings> at(String host, String path) {
    return routes.getOrDefault(host, Map.of()).getOrDefault(path, List.of());
  }

  /** Whether each path with the prefix {@code path} has the prefix {@code shorter}, too. */
  private static boolean covers(String shorter, String path) {
    String below = shorter.endsWith("/") ? shorter : shorter + "/";
    return path.equals(shorter) || path.startsWith(below);
  }
}
