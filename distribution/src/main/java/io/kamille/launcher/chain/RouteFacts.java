package io.kamille.launcher.chain;

import io.kamille.cache.decision.ColdCache;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.Reason;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.PoolSettings;
import io.kamille.launcher.configuration.RouteSettings;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What stations ask when they judge: of a route in force, or of its settings alone. Any thread. */
interface RouteFacts {

  RouteSettings route();

  /** The stations of the route, in order. */
  List<Station> stations();

  /** The path because of which its requests pass the cache by; null if they do not. */
  @Nullable String bypassPath();

  /** What its cache would do; only where it has one. */
  Explanation lookUp(RequestHead request);

  /** Which query parameters count; only where it has a cache. */
  QueryRules query();

  /** Its cache with nothing in it; null where a real one answers. */
  default @Nullable ColdCache cold() {
    return null;
  }

  /** The step that says which node a miss would ask; null if it asks none. */
  default @Nullable Reason owner(RequestHead request) {
    return null;
  }

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
