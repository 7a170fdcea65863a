package io.kamille.launcher.chain;

import io.kamille.cache.decision.ColdCache;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import io.kamille.core.route.ValuePattern;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.launcher.chain.Passage.Found;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RequestTest;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.RoutesByHost;
import io.kamille.launcher.configuration.RoutesByHost.Place;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tests of a configuration by the configuration alone: without loops, origins and network.
 * Any thread, one at a time. A test that fails is a problem like others: {@code f:40:7:
 * tests[0].expect.cache: found bypass (cookie: it bypasses the cache), expected lookup}.
 */
public final class RequestTests {

  /*
   * Stations judge as they do for explanations, over a cache with nothing in it.
   *
   * Who may validate a text need not be somebody who may read files. So fields have what the text
   * says, `${file:…}` included: no expectation finds out what is in the file.
   */
  private static final ExchangeHandler NOBODY = exchange -> {};

  private final Configuration configuration;
  private final WallClock clock = WallClock.system();
  private final Map<Route, RouteFacts> routes = new LinkedHashMap<>();
  private final IdentityHashMap<RouteSettings, ColdCache> caches = new IdentityHashMap<>();
  private final Map<Path, RedirectTable> redirects = new HashMap<>();
  private final RouteExplainer explainer;

  private RequestTests(Configuration configuration) {
    this.configuration = configuration;
    for (Place place : RoutesByHost.places(configuration.routes())) {
      routes.put(
          new Route(place.name(), place.host(), place.path(), place.settings().match(), NOBODY),
          new ColdRoute(
              place.settings(),
              RouteStations.of(place.settings(), configuration),
              place.isPastCache() ? place.path() : null,
              this));
    }
    explainer =
        new RouteExplainer(
            RouteTable.of(List.copyOf(routes.keySet())), routes, null, Optional.empty());
  }

  /**
   * Each expectation of a configuration's tests that is not met, with its place.
   *
   * @param file what problems call it
   */
  public static List<Problem> failed(Configuration configuration, String file) {
    var problems = new Problems(file);
    List<SectionValues> values = configuration.testValues();
    if (!values.isEmpty()) {
      var tests = new RequestTests(configuration);
      for (int i = 0; i < values.size(); i++) {
        tests.run(configuration.tests().get(i), values.get(i).one(RequestTest.EXPECT), problems);
      }
    }
    return problems.inOrder();
  }

  private void run(RequestTest test, SectionValues expect, Problems problems) {
    RequestHead request = test.head();
    InetAddress peer = test.client();
    InetAddress client =
        peer == null
            ? null
            : RouteExplainer.named(configuration.listeners(), request, peer, new ArrayList<>());
    Route route = explainer.routes().find(request);
    if (route == null) {
      Explanation refused = explainer.noRoute(request);
      Integer expected = expect.find(RequestTest.STATUS);
      if (expected == null || expected != refused.status()) {
        String found = "no route (" + line(refused.deciding()) + ")";
        problems.conflict(expect, found, "a route for " + test.request().uri());
      } else {
        Found status = new Found(expected, null);
        Map<Setting<?>, Found> found = Map.of(RequestTest.STATUS, status);
        compare(expect, new Outcome(refused.deciding(), found, null, null), problems);
      }
      return;
    }
    request.partition(route.partition());
    var passage =
        new Passage(explainer.facts(route), request, client, peer, test.response().head());
    RouteExplainer.walk(route, passage);
    passage.find(RequestTest.ROUTE, route.name(), null);
    compare(expect, Outcome.of(passage), problems);
  }

  /** What has come of a request. */
  private record Outcome(
      Reason reached,
      Map<Setting<?>, Found> found,
      @Nullable Fields sent,
      @Nullable Fields response) {

    static Outcome of(Passage passage) {
      boolean isRefused = passage.isDecided(Decision.REFUSE);
      ResponseHead response = passage.response();
      return new Outcome(
          isRefused ? passage.deciding() : passage.first(),
          passage.found(),
          passage.sent(),
          response == null ? null : response.fields());
    }

    /** The line of the explanation that a value follows from, or that there is none. */
    String because(Setting<?> setting) {
      Found value = found.getOrDefault(setting, found.get(RequestTest.CACHE));
      Reason step = value == null ? null : value.because();
      return line(step == null ? reached : step);
    }
  }

  private static String line(Reason step) {
    return step.rule() + ": " + step.so();
  }

  private static void compare(SectionValues expect, Outcome outcome, Problems problems) {
    for (Member member : expect.section().members()) {
      if (member instanceof Setting<?> setting && expect.isGiven(setting)) {
        Found value = outcome.found().get(setting);
        String found = value == null ? "nothing" : value.value().toString();
        String expected =
            setting.equals(RequestTest.VARY_BY)
                ? CacheStation.normal(expect.value(RequestTest.VARY_BY)).toString()
                : expect.printed(setting);
        if (!expected.equals(found)) {
          String shown = found + " (" + outcome.because(setting) + ")";
          problems.conflict(expect, setting, shown, expected);
        }
      }
    }
    compare(expect, RequestTest.REQUEST_FIELDS, outcome.sent(), outcome, problems);
    compare(expect, RequestTest.RESPONSE_FIELDS, outcome.response(), outcome, problems);
  }

  private static void compare(
      SectionValues expect,
      Subsection<ValuePattern> place,
      @Nullable Fields found,
      Outcome outcome,
      Problems problems) {
    for (SectionValues at : expect.all(place)) {
      ValuePattern expected = place.section().record(at);
      if (found == null || !expected.takes(found, at.name())) {
        List<String> lines = found == null ? List.of() : found.all(at.name());
        String there = lines.isEmpty() ? "absent" : Problems.quote(String.join(", ", lines));
        String shown = found == null ? "nothing" : there;
        problems.conflict(
            at, shown + " (" + line(outcome.reached()) + ")", Problems.quote(expected.value()));
      }
    }
  }

  private ColdCache cache(RouteSettings route) {
    return caches.computeIfAbsent(
        route,
        any ->
            new ColdCache(
                CacheSettings.of(route.cache(), configuration.cache()),
                clock,
                Link.cacheName(configuration.cluster())));
  }

  /** A file that is not right is a problem of its own. */
  private static @Nullable RedirectTable moved(Path file) {
    try {
      return RedirectTable.read(file, new Problems(file.toString()));
    } catch (IOException wrong) {
      return null;
    }
  }

  /** A route without what lives behind its stations. */
  private record ColdRoute(
      RouteSettings route, List<Station> stations, @Nullable String bypassPath, RequestTests tests)
      implements RouteFacts {

    @Override
    public ColdCache cold() {
      return tests.cache(route);
    }

    @Override
    public Explanation lookUp(RequestHead request) {
      return tests.cache(route).explain(request);
    }

    @Override
    public @Nullable RedirectTable moved() {
      Path file = route.actions().redirectsFile();
      return file == null ? null : tests.redirects.computeIfAbsent(file, RequestTests::moved);
    }

    @Override
    public QueryRules query() {
      return QueryRules.NONE;
    }
  }
}
