package io.kamille.launcher.appliance;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.QueryRules;
import io.kamille.core.http.RequestHead;
import io.kamille.launcher.configuration.RouteSettings;

/** What explanations ask of a route, with or without loops behind it. Any thread. */
interface ExplainedRoute {

  RouteSettings route();

  /** Whether its requests pass the cache by because of their path. */
  boolean isPastCache();

  /** What its cache would do; only where it has one. */
  Explanation lookUp(RequestHead request);

  /** Which query parameters count; only where it has a cache. */
  QueryRules query();
}
