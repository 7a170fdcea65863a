package io.kamille.launcher.appliance;

import io.kamille.cache.decision.ColdCache;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.Freshness;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.answer.RuledHandler;
import io.kamille.core.answer.SecurityFields;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.choose.SplitSettings;
import io.kamille.core.origin.wire.RequestHeadWriter;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import io.kamille.core.route.ValuePattern;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RequestTest;
import io.kamille.launcher.configuration.RequestTest.Target;
import io.kamille.launcher.configuration.RouteActions;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.RoutesByHost;
import io.kamille.launcher.configuration.RoutesByHost.Place;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tests of a configuration by the configuration alone: without loops, origins and network.
 * Any thread, one at a time. A test that fails is a problem like others: {@code f:40:7:
 * tests[0].expect.cache: found bypass (cookie: it bypasses the cache), expected lookup}.
 */
public final class RequestTests {

  /*
   * Routes and caches are asked what explanations ask them, over a store with nothing in it. What
   * is done to requests and responses is done by the handlers that real ones come to.
   *
   * Who may validate a text need not be somebody who may read files. So fields have what the text
   * says, `${file:…}` included: no expectation finds out what is in the file.
   */
  private static final ExchangeHandler NOBODY = exchange -> {};

  /** A step that refuses names the status code as {@code 403 (Forbidden)}. */
  private static final Pattern STATUS = Pattern.compile("\\b([45][0-9]{2}) \\(");

  private final Configuration configuration;
  private final WallClock clock = WallClock.system();
  private final Map<Route, ColdRoute> routes = new LinkedHashMap<>();
  private final IdentityHashMap<RouteSettings, ColdCache> caches = new IdentityHashMap<>();
  private final Map<Path, RedirectTable> redirects = new HashMap<>();
  private final RouteExplainer explainer;
  private final HeadWriter writing = new HeadWriter();

  /** What comes of a request. */
  static final class Outcome {

    /** The value that each expectation would have, as YAML has it. */
    final Map<Setting<?>, Object> found = new LinkedHashMap<>();

    /** Null if there is none. */
    final @Nullable RouteSettings route;

    /** The line of the explanation that has led there. */
    final String reached;

    /** The fields that the origin gets; null if none gets the request. */
    @Nullable Fields passed;

    /** The fields that the client gets; null for a refusal. */
    @Nullable Fields response;

    private final Map<Setting<?>, String> because = new HashMap<>();

    Outcome(@Nullable RouteSettings route, String reached) {
      this.route = route;
      this.reached = reached;
    }

    /** The line of the explanation that a value follows from, or that there is none. */
    private String because(Setting<?> setting) {
      return because.getOrDefault(setting, because.getOrDefault(RequestTest.CACHE, reached));
    }

    private void put(Setting<?> setting, Object value, String line) {
      found.put(setting, value);
      because.put(setting, line);
    }
  }

  public RequestTests(Configuration configuration) {
    this.configuration = configuration;
    for (Place place : RoutesByHost.places(configuration.routes())) {
      routes.put(
          new Route(place.name(), place.host(), place.path(), place.settings().match(), NOBODY),
          new ColdRoute(place.settings(), place.isPastCache(), this));
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
    return configuration.tests().isEmpty()
        ? List.of()
        : failed(configuration, new RequestTests(configuration), file);
  }

  /** The same of tests that may be those of another configuration than they run by. */
  static List<Problem> failed(Configuration with, RequestTests tests, String file) {
    var problems = new Problems(file);
    List<SectionValues> values = with.testValues();
    for (int i = 0; i < values.size(); i++) {
      RequestTest test = with.tests().get(i);
      Outcome outcome = tests.outcome(test.head(), test.client(), test.response().head());
      compare(test.request(), values.get(i).one(RequestTest.EXPECT), outcome, problems);
    }
    return problems.inOrder();
  }

  private static void compare(
      Target request, SectionValues expect, Outcome outcome, Problems problems) {
    Object status = outcome.found.get(RequestTest.STATUS);
    if (outcome.route == null && !Objects.equals(status, expect.find(RequestTest.STATUS))) {
      problems.conflict(
          expect, "no route (" + outcome.reached + ")", "a route for " + request.uri());
      return;
    }
    for (Member member : expect.section().members()) {
      if (member instanceof Setting<?> setting && expect.isGiven(setting)) {
        String found = String.valueOf(outcome.found.getOrDefault(setting, "nothing"));
        String expected =
            setting.equals(RequestTest.VARY_BY)
                ? normal(expect.value(RequestTest.VARY_BY)).toString()
                : expect.printed(setting);
        if (!expected.equals(found)) {
          String shown = found + " (" + outcome.because(setting) + ")";
          problems.conflict(expect, setting, shown, expected);
        }
      }
    }
    compare(expect, RequestTest.REQUEST_FIELDS, outcome.passed, outcome, problems);
    compare(expect, RequestTest.RESPONSE_FIELDS, outcome.response, outcome, problems);
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
            at, shown + " (" + outcome.reached + ")", Problems.quote(expected.value()));
      }
    }
  }

  /**
   * What comes of that request, if the origin would answer so. Changes both.
   *
   * @param peer the client, or a trusted proxy; null to leave that open
   */
  Outcome outcome(RequestHead request, @Nullable InetAddress peer, ResponseHead response) {
    InetAddress client =
        peer == null
            ? null
            : RouteExplainer.named(configuration.listeners(), request, peer, new ArrayList<>());
    Explanation explained = explainer.explain(request, client).explanation();
    Route route = explainer.routes().find(request);
    ColdRoute cold = route == null ? null : routes.get(route);
    String first = line(explained.because().getFirst());
    String last = line(explained.deciding());
    boolean isRefused = explained.decision() == Decision.REFUSE;
    var outcome = new Outcome(cold == null ? null : cold.route(), isRefused ? last : first);
    if (route != null) {
      outcome.put(RequestTest.ROUTE, route.name(), first);
    }
    if (cold == null || isRefused) {
      Matcher status = STATUS.matcher(last);
      if (status.find()) {
        outcome.put(RequestTest.STATUS, Integer.valueOf(status.group(1)), last);
      }
      return outcome;
    }
    RedirectTable moved = cold.moved();
    ResponseHead redirect = moved == null ? null : moved.answer(request);
    if (redirect == null && cold.route().upstream() != null) {
      forward(cold, request, client, peer, response, last, outcome);
      return outcome;
    }
    ResponseHead own = redirect == null ? ownAnswer(cold.route(), request) : redirect;
    if (redirect != null && cold.route().actions().securityHeaders()) {
      SecurityFields.addTo(redirect.fields(), request.isSecure());
    }
    String target = redirect == null ? RouteChain.targetName(cold.route()) : "redirect";
    outcome.put(RequestTest.UPSTREAM, target, last);
    outcome.put(RequestTest.CACHE, RequestTest.OFF, last);
    if (own != null) {
      outcome.put(RequestTest.STATUS, own.status(), last);
      outcome.response = own.fields();
    }
    return outcome;
  }

  private static String line(Reason step) {
    return step.rule() + ": " + step.so();
  }

  /** The head of what a route answers; null for that of a file. */
  private static @Nullable ResponseHead ownAnswer(RouteSettings route, RequestHead request) {
    RouteActions actions = route.actions();
    if (!actions.redirect().isOn() && !actions.respond().isOn()) {
      return null;
    }
    ResponseHead head =
        actions.redirect().isOn() ? actions.redirect().head(request) : actions.respond().head(true);
    rules(route).change(request, head);
    return head;
  }

  private void forward(
      ColdRoute cold,
      RequestHead request,
      @Nullable InetAddress client,
      @Nullable InetAddress peer,
      ResponseHead response,
      String last,
      Outcome outcome) {
    RouteSettings route = cold.route();
    if (route.auth().isOn()) {
      request.authenticated();
    }
    SplitSettings split = route.actions().split();
    String other = client != null && split.takes(request, client) ? split.upstream() : null;
    outcome.put(
        RequestTest.UPSTREAM,
        other == null ? RouteChain.targetName(route) : other,
        other == null ? outcome.reached : last);
    RuledHandler rules = rules(route);
    rules.change(request, response);
    outcome.response = response.fields();
    RequestHead asked = request;
    if (!route.isCached()) {
      outcome.put(RequestTest.CACHE, RequestTest.OFF, last);
    } else if (cold.isPastCache() || other != null) {
      outcome.put(RequestTest.CACHE, RequestTest.BYPASS, last);
    } else if (cache(route).isBypassed(request)) {
      Reason rule = cache(route).explain(request).because().getFirst();
      outcome.put(RequestTest.CACHE, RequestTest.BYPASS, line(rule));
    } else {
      RequestHead filtered = cache(route).filtered(request);
      lookUp(route, filtered, response, outcome);
      asked = cache(route).asked(filtered);
    }
    if (route.isCached()) {
      cache(route).removeTags(response.fields());
    }
    RequestHead passed = rules.passed(asked);
    if (passed != null) {
      outcome.put(RequestTest.PATH, passed.pathAndQuery(), outcome.reached);
      var forwarding = configuration.forwarding().ofRoute(route.hostRewrite(), route.upgrades());
      outcome.passed =
          new RequestHeadWriter(forwarding, writing).sent(passed, socket(client), socket(peer));
    }
  }

  private static InetSocketAddress socket(@Nullable InetAddress address) {
    return address == null
        ? InetSocketAddress.createUnresolved("unknown", 0)
        : new InetSocketAddress(address, 0);
  }

  private void lookUp(
      RouteSettings route, RequestHead asked, ResponseHead response, Outcome outcome) {
    outcome.put(RequestTest.CACHE, RequestTest.LOOKUP, outcome.reached);
    outcome.put(RequestTest.KEY, NormalUri.of(asked), outcome.reached);
    outcome.put(RequestTest.VARY_BY, varyBy(route, response.fields()), outcome.reached);
    Storability storability = cache(route).storability(asked, response);
    Freshness freshness = cache(route).freshness(response);
    boolean isStored = storability.isStorable();
    int seconds = isStored ? freshness.lifetimeSeconds() : RequestTest.NOT_STORED;
    outcome.put(
        RequestTest.LIFETIME,
        RequestTest.LIFETIME.type().print(seconds),
        "response: "
            + (isStored ? "fresh by " + freshness.source().token() : storability.explanation()));
  }

  private static List<String> varyBy(RouteSettings route, Fields response) {
    var members = new TreeSet<>(route.cache().varyBy());
    for (String line : response.all("Vary")) {
      members.addAll(List.of(line.strip().split("\\s*,\\s*")));
    }
    return normal(members);
  }

  /** In one order. Names of fields have no case; those of cookies do. */
  private static List<String> normal(Collection<String> members) {
    return members.stream()
        .map(member -> member.indexOf(':') < 0 ? member.toLowerCase(Locale.ROOT) : member)
        .distinct()
        .sorted()
        .toList();
  }

  private static RuledHandler rules(RouteSettings route) {
    return RouteChain.rules(route, HeaderRules::asWritten, NOBODY, ErrorPages.NONE);
  }

  private ColdCache cache(RouteSettings route) {
    return caches.computeIfAbsent(
        route, any -> new ColdCache(CacheSettings.of(route.cache(), configuration.cache()), clock));
  }

  /** A file that is not right is a problem of its own. */
  private static @Nullable RedirectTable moved(Path file) {
    try {
      return RedirectTable.read(file, new Problems(file.toString()));
    } catch (IOException wrong) {
      return null;
    }
  }

  /** A route without stations. */
  private record ColdRoute(RouteSettings route, boolean isPastCache, RequestTests tests)
      implements ExplainedRoute {

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
