package io.kamille.cache.removal;

import io.kamille.cache.index.SearchVariances;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.CacheKeyProbe;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.key.QueryRules;
import io.kamille.core.http.RequestHead;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * Finds the keys of what is stored for a target URI, for those who look for it without being on its
 * route: with the query that the rules of the route make of it, and by what the origin has said
 * about queries. Any thread.
 */
public final class RouteQueries {

  private final SearchVariances variances;
  private final AtomicReference<Function<RequestHead, QueryRules>> routes =
      new AtomicReference<>(any -> QueryRules.NONE);

  public RouteQueries(SearchVariances variances) {
    this.variances = variances;
  }

  /** Asks {@code routes} from now on, from any thread. */
  public void follow(Function<RequestHead, QueryRules> routes) {
    this.routes.setRelease(routes);
  }

  /** The request as its route looks it up: itself, or a copy with another query. */
  public RequestHead filtered(RequestHead request) {
    return QueryFilter.filtered(routes.getAcquire().apply(request), request);
  }

  /**
   * The keys that something may be stored under for that request: first the one by what the origin
   * has said, whether its route heeds that at this moment or not, last the one of the URI itself.
   */
  public List<CacheKey> keysOf(RequestHead request) {
    RequestHead filtered = filtered(request);
    CacheKey own = CacheKey.of(filtered);
    CacheKey simplified = variances.keyOf(filtered, new CacheKeyProbe());
    return simplified.equals(own) ? List.of(own) : List.of(simplified, own);
  }

  /** The key that such a request is looked up by now, by what its route heeds. */
  public CacheKey keyOf(RequestHead request) {
    QueryRules rules = routes.getAcquire().apply(request);
    RequestHead filtered = QueryFilter.filtered(rules, request);
    return rules.heedsOrigin()
        ? variances.keyOf(filtered, new CacheKeyProbe())
        : CacheKey.of(filtered);
  }

  /** The same for a URI; none if no request can have it as its target ({@link CacheKey#find}). */
  public List<CacheKey> keysOf(String uri) {
    RequestHead request = CacheKey.request(uri);
    return request == null ? List.of() : keysOf(request);
  }

  /** Forgets what origins have said. */
  void forget() {
    variances.clear();
  }
}
