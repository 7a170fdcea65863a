package io.kamille.cache.removal;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.key.QueryRules;
import io.kamille.core.http.RequestHead;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the key of what is stored for a target URI, for those who look for it without being on its
 * route: with the query that the rules of the route make of it. Any thread.
 */
public final class RouteQueries {

  private final AtomicReference<Function<RequestHead, QueryRules>> routes =
      new AtomicReference<>(any -> QueryRules.NONE);

  /** Asks {@code routes} from now on, from any thread. */
  public void follow(Function<RequestHead, QueryRules> routes) {
    this.routes.setRelease(routes);
  }

  /** The request as its route looks it up: itself, or a copy with another query. */
  public RequestHead filtered(RequestHead request) {
    return QueryFilter.filtered(routes.getAcquire().apply(request), request);
  }

  /** The key that such a request is looked up by on its route. */
  public CacheKey keyOf(RequestHead request) {
    return CacheKey.of(filtered(request));
  }

  /** The same for a URI; null if no request can have it as its target ({@link CacheKey#find}). */
  public @Nullable CacheKey keyOf(String uri) {
    RequestHead request = CacheKey.request(uri);
    return request == null ? null : keyOf(request);
  }
}
