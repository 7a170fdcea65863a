package io.kamille.launcher.chain;

import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteActions;
import io.kamille.launcher.configuration.RouteSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The stations of a route, in order. No other class knows that order. */
public final class RouteStations {

  /**
   * A place in the chain of routes. The page of settings has a row for each.
   *
   * @param settings that ask for its station
   * @param refusal status code and token that the station refuses requests with, and a remedy; may
   *     be empty
   * @param making the station; null if the route has none there
   */
  record Place<S extends Station>(
      String settings,
      Class<S> station,
      String refusal,
      BiFunction<RouteSettings, Configuration, @Nullable S> making) {}

  static final List<Place<?>> PLACES =
      List.of(
          new Place<>(
              "`request-id`",
              RequestIdStation.class,
              "",
              (route, _) -> route.actions().requestId() ? new RequestIdStation() : null),
          new Place<>(
              "`error-pages`",
              ErrorPagesStation.class,
              "",
              (route, _) ->
                  route.actions().errorPages().isEmpty() ? null : new ErrorPagesStation()),
          new Place<>(
              "`security-headers`",
              SecurityHeadersStation.class,
              "",
              (route, _) ->
                  route.actions().securityHeaders() ? new SecurityHeadersStation() : null),
          new Place<>(
              "`access`",
              AccessStation.class,
              "403 `http_request_denied`: list the client's address in `allow`, or remove it from"
                  + " `deny`",
              (route, _) -> route.access().isOpen() ? null : new AccessStation(route.access())),
          new Place<>(
              "`rate-limit`",
              RateStation.class,
              "429 `http_request_denied`, with `Retry-After`: send fewer requests, or raise `rate`"
                  + " or `burst`",
              (route, _) ->
                  route.limits().rates().isEmpty()
                      ? null
                      : new RateStation(route.limits().rates())),
          new Place<>(
              "`request-content`",
              ContentLimitStation.class,
              "413 `http_request_error`: raise the limit",
              (route, _) ->
                  route.limits().boundsContent()
                      ? new ContentLimitStation(route.limits().requestContent())
                      : null),
          new Place<>(
              "`auth`",
              ClientAuthStation.class,
              "401 `http_request_denied`: give the right name and password, or token; `details`"
                  + " says which is wrong",
              (route, _) -> route.auth().isOn() ? new ClientAuthStation(route.auth()) : null),
          new Place<>(
              "`redirects-file`",
              RedirectStation.class,
              "",
              (route, _) ->
                  route.actions().redirectsFile() == null
                      ? null
                      : new RedirectStation(route.actions().redirectsFile())),
          new Place<>(
              "`overload.target`, without a cache",
              OverloadStation.class,
              "503 `proxy_internal_response`",
              (route, _) -> route.isCached() ? null : new OverloadStation()),
          new Place<>(
              "`split`",
              SplitStation.class,
              "",
              (route, _) ->
                  route.actions().split().upstream() == null
                      ? null
                      : new SplitStation(route.actions().split())),
          new Place<>(
              "`cache`",
              CacheStation.class,
              "504 `proxy_internal_response` to `only-if-cached`",
              (route, configuration) ->
                  route.isCached() ? new CacheStation(route, configuration.cache()) : null),
          new Place<>(
              "`overload.target`, of what the store does not answer",
              OverloadStation.class,
              "503 `proxy_internal_response`",
              (route, _) -> route.isCached() ? new OverloadStation() : null),
          new Place<>(
              "`request-headers`, `response-headers`, `path-rewrite`; also `request-id`,"
                  + " `security-headers`, and `error-pages` with `intercept`",
              RuleStation.class,
              "",
              (route, _) ->
                  hasRules(route.actions())
                      ? new RuleStation(route.actions(), route.path())
                      : null),
          new Place<>(
              "`mirror`",
              MirrorStation.class,
              "",
              (route, _) ->
                  route.actions().mirror().upstream() == null
                      ? null
                      : new MirrorStation(route.actions().mirror(), route)),
          new Place<>(
              "`upstream`, `root`, `redirect`, `respond`",
              TargetStation.class,
              "",
              TargetStation::new));

  private RouteStations() {}

  static List<Station> of(RouteSettings route, Configuration configuration) {
    List<Station> stations = new ArrayList<>();
    for (Place<?> place : PLACES) {
      Station station = place.making.apply(route, configuration);
      if (station != null) {
        stations.add(station);
      }
    }
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
