package io.kamille.core.route;

import io.kamille.core.http.NormalPath;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All routes, most specific first. Immutable and swapped whole; any thread. */
public final class RouteTable {

  /*
   * Specificity is the host first, then the path: an exact host beats a wildcard, a longer wildcard
   * beats a shorter one, a wildcard beats any host; for one host, the longest path prefix wins, then
   * the route with most conditions, then the first by name. A route whose conditions a request does
   * not meet is passed over. When no route of a host takes a request, the next less specific host is
   * asked: a route for every host, /.well-known say, need not be repeated for each.
   *
   * Hosts and paths are compared as the octets they came as. Only a path that might mean another
   * one, by dot segments, empty segments or percent-encoded letters, is normalised first
   * (NormalPath): otherwise /public/%2e%2e/admin and //admin would pass by a rule for /admin. What
   * is forwarded, and what the cache key covers, stays as it came.
   */
  // Not comparingInt(…).reversed(), which has more bootstrap methods that each start would run.
  private static final Comparator<Route> MOST_SPECIFIC_FIRST =
      (one, other) -> {
        int paths = Integer.compare(other.pathPrefix().length(), one.pathPrefix().length());
        int sizes = paths != 0 ? paths : Integer.compare(other.match().size(), one.match().size());
        return sizes != 0 ? sizes : one.name().compareTo(other.name());
      };

  private final @Nullable HostRoutes[] exact;
  private final HostRoutes[] wildcards;
  private final @Nullable HostRoutes any;
  private final boolean looksAtPaths;

  private RouteTable(
      @Nullable HostRoutes[] exact, HostRoutes[] wildcards, @Nullable HostRoutes any) {
    this.exact = exact;
    this.wildcards = wildcards;
    this.any = any;
    this.looksAtPaths =
        holdsPaths(exact) || holdsPaths(wildcards) || (any != null && any.holdsPaths());
  }

  /**
   * A table of these routes, in any order.
   *
   * @throws IllegalArgumentException if two of them have the same host, path prefix and match
   */
  public static RouteTable of(List<Route> routes) {
    Map<String, List<Route>> byHost = new LinkedHashMap<>();
    Set<String> seen = new HashSet<>();
    for (Route route : routes) {
      if (!seen.add(route.host() + route.pathPrefix() + route.match())) {
        throw new IllegalArgumentException(
            "route " + route.name() + ": another one has " + route.host() + route.pathPrefix());
      }
      byHost.computeIfAbsent(route.host(), host -> new ArrayList<>()).add(route);
    }
    List<HostRoutes> exact = new ArrayList<>();
    List<HostRoutes> wildcards = new ArrayList<>();
    HostRoutes any = null;
    for (List<Route> ofHost : byHost.values()) {
      ofHost.sort(MOST_SPECIFIC_FIRST);
      Route first = ofHost.getFirst();
      if (first.hasAnyHost()) {
        any = new HostRoutes("", ofHost);
      } else if (first.hasWildcardHost()) {
        wildcards.add(new HostRoutes(first.wildcardSuffix(), ofHost));
      } else {
        exact.add(new HostRoutes(first.host(), ofHost));
      }
    }
    wildcards.sort(Comparator.comparingInt((HostRoutes host) -> host.host.length).reversed());
    return new RouteTable(HostRoutes.hashed(exact), wildcards.toArray(HostRoutes[]::new), any);
  }

  /** The most specific route for the request, or null. */
  public @Nullable Route find(RequestHead request) {
    return find(request, null);
  }

  /** All routes that requests for its target URI may take, by what else they have. */
  public List<Route> all(RequestHead request) {
    List<Route> all = new ArrayList<>();
    Route last = find(request, all);
    if (last != null) {
      all.add(last);
    }
    return all;
  }

  /**
   * The route for the request.
   *
   * @param passed takes routes with conditions, which then take no request; null to look at them
   */
  private @Nullable Route find(RequestHead request, @Nullable List<Route> passed) {
    byte[] octets = request.octets();
    int hostStart = request.authorityStart();
    int hostEnd = hostEnd(octets, hostStart, request.authorityEnd());
    byte[] path = octets;
    int pathStart = request.pathStart();
    int pathEnd = request.pathEnd();
    if (looksAtPaths && NormalPath.mayDiffer(octets, pathStart, pathEnd)) {
      path = NormalPath.of(octets, pathStart, pathEnd);
      pathStart = 0;
      pathEnd = path.length;
    }
    HostRoutes named = exact(octets, hostStart, hostEnd);
    Route route = named == null ? null : named.find(path, pathStart, pathEnd, request, passed);
    for (int i = 0; route == null && i < wildcards.length; i++) {
      if (wildcards[i].isSuffixOf(octets, hostStart, hostEnd)) {
        route = wildcards[i].find(path, pathStart, pathEnd, request, passed);
      }
    }
    return route == null && any != null
        ? any.find(path, pathStart, pathEnd, request, passed)
        : route;
  }

  /** Whether some route answers for the host of the request, whatever the path. */
  public boolean knowsHost(RequestHead request) {
    byte[] octets = request.octets();
    int start = request.authorityStart();
    int end = hostEnd(octets, start, request.authorityEnd());
    boolean known = any != null || exact(octets, start, end) != null;
    for (int i = 0; !known && i < wildcards.length; i++) {
      known = wildcards[i].isSuffixOf(octets, start, end);
    }
    return known;
  }

  private @Nullable HostRoutes exact(byte[] octets, int start, int end) {
    if (exact.length == 0) {
      return null;
    }
    int slot = HostRoutes.hash(octets, start, end) & (exact.length - 1);
    for (HostRoutes at = exact[slot]; at != null; at = exact[slot]) {
      if (at.equalsHost(octets, start, end)) {
        return at;
      }
      slot = (slot + 1) & (exact.length - 1);
    }
    return null;
  }

  /** Where the host ends: before the port and before the dot of a fully qualified name. */
  private static int hostEnd(byte[] octets, int start, int end) {
    int at = end;
    while (at > start && Octets.isDigit(octets[at - 1])) {
      at--;
    }
    int hostEnd = at > start && octets[at - 1] == ':' ? at - 1 : end;
    return hostEnd > start && octets[hostEnd - 1] == '.' ? hostEnd - 1 : hostEnd;
  }

  private static boolean holdsPaths(@Nullable HostRoutes[] hosts) {
    for (HostRoutes host : hosts) {
      if (host != null && host.holdsPaths()) {
        return true;
      }
    }
    return false;
  }

  /** The routes of one host, longest path prefix first. */
  private static final class HostRoutes {

    private final byte[] host;
    private final Route[] routes;
    private final byte[][] prefixes;
    private final boolean hasConditions;

    HostRoutes(String host, List<Route> routes) {
      this.host = host.getBytes(StandardCharsets.ISO_8859_1);
      this.routes = routes.toArray(Route[]::new);
      this.prefixes = new byte[this.routes.length][];
      this.hasConditions = routes.stream().anyMatch(Route::hasConditions);
      for (int i = 0; i < prefixes.length; i++) {
        prefixes[i] = this.routes[i].pathPrefix().getBytes(StandardCharsets.ISO_8859_1);
      }
    }

    /** An open hash table of at most half its slots, so that a miss soon meets an empty one. */
    static @Nullable HostRoutes[] hashed(List<HostRoutes> hosts) {
      int slots = hosts.isEmpty() ? 0 : Integer.highestOneBit(hosts.size() * 2) * 2;
      @Nullable HostRoutes[] table = new HostRoutes[slots];
      for (HostRoutes host : hosts) {
        int slot = hash(host.host, 0, host.host.length) & (slots - 1);
        while (table[slot] != null) {
          slot = (slot + 1) & (slots - 1);
        }
        table[slot] = host;
      }
      return table;
    }

    static int hash(byte[] octets, int start, int end) {
      int hash = 0;
      for (int i = start; i < end; i++) {
        hash = hash * 31 + Octets.lower(octets[i]);
      }
      return hash ^ (hash >>> 15);
    }

    boolean holdsPaths() {
      return prefixes[0].length > 1;
    }

    boolean equalsHost(byte[] octets, int start, int end) {
      return end - start == host.length && endsAt(octets, end);
    }

    boolean isSuffixOf(byte[] octets, int start, int end) {
      return end - start > host.length && endsAt(octets, end);
    }

    private boolean endsAt(byte[] octets, int end) {
      int start = end - host.length;
      for (int i = 0; i < host.length; i++) {
        if (Octets.lower(octets[start + i]) != host[i]) {
          return false;
        }
      }
      return true;
    }

    /** The route with the longest prefix of the path; the empty path and {@code *} mean /. */
    @Nullable Route find(
        byte[] octets, int start, int end, RequestHead request, @Nullable List<Route> passed) {
      for (int i = 0; i < prefixes.length; i++) {
        if (isPrefix(prefixes[i], octets, start, end)
            && (!hasConditions || takes(routes[i], request, passed))) {
          return routes[i];
        }
      }
      return null;
    }

    private static boolean takes(Route route, RequestHead request, @Nullable List<Route> passed) {
      if (passed == null || !route.hasConditions()) {
        return !route.hasConditions() || route.match().takes(request);
      }
      passed.add(route);
      return false;
    }

    private static boolean isPrefix(byte[] prefix, byte[] octets, int start, int end) {
      int length = prefix.length;
      if (length == 1) {
        return true;
      }
      if (end - start < length) {
        return false;
      }
      for (int i = 0; i < length; i++) {
        if (octets[start + i] != prefix[i]) {
          return false;
        }
      }
      return prefix[length - 1] == '/' || end - start == length || octets[start + length] == '/';
    }
  }
}
