package io.kamille.core.route;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.NormalPath;
import io.kamille.core.setting.HostPort;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One rule of a {@link RouteTable}: requests for this host and below this path go to that handler.
 *
 * @param name what log and metrics call the route
 * @param host {@code example.org}; {@code *.example.org} for every name that ends in {@code
 *     .example.org}, however many labels deep, though not for {@code example.org} itself; or {@code
 *     *} for every host. No port: a route answers on every port we listen on. Case does not matter
 * @param pathPrefix begins with {@code /}, has no dot segments, no empty segments and no encoded
 *     letters (requests are compared without them), and matches whole segments: {@code /api}
 *     matches {@code /api} and {@code /api/users}, never {@code /apis}; {@code /api/} matches only
 *     what lies below
 * @param match what else a request must have
 * @param handler its first station
 */
public record Route(
    String name, String host, String pathPrefix, RouteMatch match, ExchangeHandler handler) {

  /** The host of a route that answers for every host. */
  public static final String ANY_HOST = "*";

  private static final String WILDCARD = "*.";
  private static final Pattern PATH_PREFIX = Pattern.compile("/[!-~&&[^?#]]{0,1023}");

  public Route {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("name: empty (expected: a name for log and metrics)");
    }
    host = host.toLowerCase(Locale.ROOT);
    match = match.size() == 0 ? RouteMatch.NONE : match;
    String fixedPart = host.startsWith(WILDCARD) ? host.substring(WILDCARD.length()) : host;
    if (!host.equals(ANY_HOST) && (fixedPart.isEmpty() || HostPort.hostOf(fixedPart) == null)) {
      throw new IllegalArgumentException(
          "host: " + host + " (expected: a host without port, *.host or *)");
    }
    if (!isPathPrefix(pathPrefix)) {
      throw new IllegalArgumentException(
          "pathPrefix: "
              + pathPrefix
              + " (expected: a path that begins with / and is in normal form)");
    }
  }

  /** Whether it takes only some of the requests for its URLs. */
  @SuppressWarnings("ReferenceEquality") // so that it costs nothing where there is none
  boolean hasConditions() {
    return match != RouteMatch.NONE;
  }

  /** What it makes a part of the cache key: its name, if it is not for all of its URLs. */
  public @Nullable String partition() {
    return hasConditions() ? name : null;
  }

  /** Whether {@code text} can be a {@link #pathPrefix}. */
  public static boolean isPathPrefix(String text) {
    return PATH_PREFIX.matcher(text).matches() && NormalPath.isNormal(text);
  }

  boolean hasWildcardHost() {
    return host.startsWith(WILDCARD);
  }

  boolean hasAnyHost() {
    return host.equals(ANY_HOST);
  }

  /** What a host must end in to match the wildcard, for example {@code .example.org}. */
  String wildcardSuffix() {
    return host.substring(1);
  }
}
