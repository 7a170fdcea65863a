package io.kamille.launcher.appliance;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.QueryRules;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.PoolSettings;
import io.kamille.launcher.configuration.RouteSettings;
import org.jspecify.annotations.Nullable;

/** What explanations ask of a route, with or without loops behind it. Any thread. */
interface ExplainedRoute {

  RouteSettings route();

  /** Whether its requests pass the cache by because of their path. */
  boolean isPastCache();

  /** What its cache would do; only where it has one. */
  Explanation lookUp(RequestHead request);

  /** Which query parameters count; only where it has a cache. */
  QueryRules query();

  /** What redirects paths that have moved; null if that is not known, or the route has none. */
  default @Nullable RedirectTable moved() {
    return null;
  }

  /** How its upstream is connected to; null if that is not known, or the route answers itself. */
  default @Nullable PoolSettings pool() {
    return null;
  }

  /** The room for content that waits in a file. */
  default long fileBytes() {
    return 0;
  }
}
