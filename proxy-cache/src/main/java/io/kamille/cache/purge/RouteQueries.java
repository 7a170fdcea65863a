package io.kamille.cache.purge;

import io.kamille.cache.semantics.QueryRules;
import io.kamille.core.http.RequestHead;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * The rules for queries of the route that a request takes, for those who look for what is stored
 * without being on that route. Any thread.
 */
public final class RouteQueries implements Function<RequestHead, QueryRules> {

  private final AtomicReference<Function<RequestHead, QueryRules>> routes =
      new AtomicReference<>(any -> QueryRules.NONE);

  /** Asks {@code routes} from now on, from any thread. */
  public void follow(Function<RequestHead, QueryRules> routes) {
    this.routes.setRelease(routes);
  }

  @Override
  public QueryRules apply(RequestHead request) {
    return routes.getAcquire().apply(request);
  }
}
