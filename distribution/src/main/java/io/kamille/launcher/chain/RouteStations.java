package io.kamille.launcher.chain;

import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteActions;
import io.kamille.launcher.configuration.RouteLimits;
import io.kamille.launcher.configuration.RouteSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The stations of a route, in order. No other class knows that order. */
public final class RouteStations {

  private RouteStations() {}

  static List<Station> of(RouteSettings route, Configuration configuration) {
    RouteActions actions = route.actions();
    RouteLimits limits = route.limits();
    boolean isCached = route.isCached();
    List<Station> stations = new ArrayList<>();
    if (actions.requestId()) {
      stations.add(new RequestIdStation());
    }
    if (!actions.errorPages().isEmpty()) {
      stations.add(new ErrorPagesStation());
    }
    if (actions.securityHeaders()) {
      stations.add(new SecurityHeadersStation());
    }
    if (!route.access().isOpen()) {
      stations.add(new AccessStation(route.access()));
    }
    if (!limits.rates().isEmpty()) {
      stations.add(new RateStation(limits.rates()));
    }
    if (limits.boundsContent()) {
      stations.add(new ContentLimitStation(limits.requestContent()));
    }
    if (route.auth().isOn()) {
      stations.add(new ClientAuthStation(route.auth()));
    }
    if (actions.redirectsFile() != null) {
      stations.add(new RedirectStation(actions.redirectsFile()));
    }
    if (!isCached) {
      stations.add(new OverloadStation());
    }
    if (actions.split().upstream() != null) {
      stations.add(new SplitStation(actions.split()));
    }
    if (isCached) {
      stations.add(new CacheStation(route, configuration.cache()));
      stations.add(new OverloadStation());
    }
    if (hasRules(actions)) {
      stations.add(new RuleStation(actions, route.path()));
    }
    if (actions.mirror().upstream() != null) {
      stations.add(new MirrorStation(actions.mirror(), route));
    }
    stations.add(new TargetStation(route, configuration));
    return List.copyOf(stations);
  }

  private static boolean hasRules(RouteActions actions) {
    return !actions.requestHeaders().isEmpty()
        || !actions.responseHeaders().isEmpty()
        || actions.requestId()
        || actions.securityHeaders()
        || actions.pathRewrite() != null
        || actions.errorPages().values().stream().anyMatch(ErrorPageSettings::intercept);
  }

  /** The chain in words, such as {@code access → cache → overload → upstream web}. */
  public static String describe(RouteSettings route, Configuration configuration) {
    return of(route, configuration).stream()
        .map(Station::describe)
        .collect(Collectors.joining(" → "));
  }

  /** What the API calls the end of a route. */
  public static String targetName(RouteSettings route) {
    return TargetStation.nameOf(route);
  }
}
