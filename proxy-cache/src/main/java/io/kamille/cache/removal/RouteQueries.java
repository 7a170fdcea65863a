package io.kamille.cache.removal;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.key.QueryRules;
import io.kamille.core.http.RequestHead;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the keys of what is stored for a target URI, for those who look for it without being on its
 * route: with the query that the rules of a route make of it, and a key for each route that takes
 * some of the requests for it. Any thread.
 */
public final class RouteQueries {

  /**
   * How a route that may take requests for a URI makes their keys.
   *
   * @param partition its name, if that is a part of the key ({@link RequestHead#partition})
   */
  public record Way(QueryRules query, @Nullable String partition) {

    /** Every request as it came. */
    public static final Way PLAIN = new Way(QueryRules.NONE, null);

    private RequestHead of(RequestHead request) {
      RequestHead copy = partition == null ? request : request.copy();
      if (partition != null) {
        copy.partition(partition);
      }
      return QueryFilter.filtered(query, copy);
    }
  }

  private final AtomicReference<Function<RequestHead, List<Way>>> routes =
      new AtomicReference<>(any -> List.of(Way.PLAIN));

  /** Asks {@code routes} from now on, from any thread; it knows one way at least. */
  public void follow(Function<RequestHead, List<Way>> routes) {
    this.routes.setRelease(routes);
  }

  /** The request as each of its routes looks it up, by key. */
  public Map<CacheKey, RequestHead> filtered(RequestHead request) {
    RequestHead any = request;
    if (request.partition() != null) {
      any = request.copy();
      any.partition(null);
    }
    Map<CacheKey, RequestHead> filtered = new LinkedHashMap<>();
    for (Way way : routes.getAcquire().apply(any)) {
      RequestHead found = way.of(any);
      filtered.putIfAbsent(CacheKey.of(found), found);
    }
    return filtered;
  }

  /** The keys that requests for that target are looked up by. */
  public Set<CacheKey> keysOf(RequestHead request) {
    return filtered(request).keySet();
  }

  /** The same for a URI; none if no request can have it as its target ({@link CacheKey#find}). */
  public Set<CacheKey> keysOf(String uri) {
    RequestHead request = CacheKey.request(uri);
    return request == null ? Set.of() : keysOf(request);
  }
}
