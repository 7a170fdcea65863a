package io.kamille.launcher.appliance;

import io.kamille.admin.view.ApplianceView.RequestExplanation;
import io.kamille.cache.decision.ColdCache;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.answer.RuledHandler;
import io.kamille.core.answer.SecurityFields;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.choose.SplitSettings;
import io.kamille.core.route.Route;
import io.kamille.core.route.RouteTable;
import io.kamille.core.route.ValuePattern;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RequestTest;
import io.kamille.launcher.configuration.RequestTest.CacheUse;
import io.kamille.launcher.configuration.RouteActions;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.RoutesByHost;
import io.kamille.launcher.configuration.RoutesByHost.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tests of a configuration by the configuration alone: without loops, origins and network.
 * Any thread, one at a time.
 */
public final class RequestTests {

  /*
   * Routes and caches are asked what explanations ask them, over a store with nothing in it. What
   * is done to requests and responses is done by the handlers that real ones come to.
   */
  private static final ExchangeHandler NOBODY = exchange -> {};

  /** A step that refuses names the status code as {@code 403 (Forbidden)}. */
  private static final Pattern STATUS = Pattern.compile("\\b([45][0-9]{2}) \\(");

  private final Configuration configuration;
  private final WallClock clock = WallClock.system();
  private final Map<Route, ColdRoute> routes = new LinkedHashMap<>();
  private final RouteExplainer explainer;

  /**
   * What comes of a request.
   *
   * @param route its name; null if there is none
   * @param upstream that gets it, or what the route has instead; empty for none
   * @param cache whether what is stored is looked for; null if the request is refused before
   * @param key null if nothing is looked for
   * @param lifetime of the response; null if no cache gets it
   * @param storing why the response has that lifetime; null if no cache gets it
   * @param status of an answer of our own; null if there is none
   * @param passed the request as the origin gets it; null if none does
   * @param response as the client gets it; null for a refusal
   */
  record Outcome(
      @Nullable String route,
      String upstream,
      @Nullable CacheUse cache,
      @Nullable String key,
      List<String> varyBy,
      @Nullable Integer lifetime,
      @Nullable Reason storing,
      @Nullable Integer status,
      @Nullable RequestHead passed,
      @Nullable ResponseHead response,
      List<Reason> because) {}

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
      new Comparison(test, values.get(i).one(RequestTest.EXPECT), tests.outcome(test), problems)
          .run();
    }
    return problems.inOrder();
  }

  /** What comes of that request. */
  Outcome outcome(RequestTest test) {
    RequestHead request = test.head();
    Route route = explainer.routes().find(request);
    RequestExplanation explained = explainer.explain(request, test.client());
    Explanation explanation = explained.explanation();
    ColdRoute cold = route == null ? null : routes.get(route);
    if (route == null || cold == null || explanation.decision() == Decision.REFUSE) {
      return new Outcome(
          route == null ? null : route.name(),
          "",
          null,
          null,
          List.of(),
          null,
          null,
          statusOf(explanation),
          null,
          null,
          explanation.because());
    }
    RedirectTable moved = cold.moved();
    ResponseHead redirect = moved == null ? null : moved.answer(request);
    if (redirect != null) {
      return redirected(route, cold.route(), request, redirect, explanation);
    }
    return cold.route().upstream() == null
        ? ownAnswer(route, cold.route(), request, explanation)
        : forwarded(route, cold, request, test, explanation);
  }

  private static @Nullable Integer statusOf(Explanation refused) {
    Matcher status = STATUS.matcher(refused.because().getLast().so());
    return status.find() ? Integer.valueOf(status.group(1)) : null;
  }

  private static Outcome redirected(
      Route route,
      RouteSettings settings,
      RequestHead request,
      ResponseHead head,
      Explanation explanation) {
    if (settings.actions().securityHeaders()) {
      SecurityFields.addTo(head.fields(), request.isSecure());
    }
    return own(route, "redirect", head, explanation);
  }

  private static Outcome own(
      Route route, String target, @Nullable ResponseHead head, Explanation explanation) {
    return new Outcome(
        route.name(),
        target,
        CacheUse.OFF,
        null,
        List.of(),
        null,
        null,
        head == null ? null : head.status(),
        null,
        head,
        explanation.because());
  }

  private Outcome ownAnswer(
      Route route, RouteSettings settings, RequestHead request, Explanation explanation) {
    RouteActions actions = settings.actions();
    ResponseHead head = null;
    if (actions.redirect().isOn()) {
      head = actions.redirect().head(request);
    } else if (actions.respond().isOn()) {
      head = actions.respond().head(true);
    }
    if (head != null) {
      rules(settings).change(request, head);
    }
    return own(route, RouteChain.targetName(settings), head, explanation);
  }

  private Outcome forwarded(
      Route route, ColdRoute cold, RequestHead request, RequestTest test, Explanation explanation) {
    RouteSettings settings = cold.route();
    if (settings.auth().isOn()) {
      request.authenticated();
    }
    SplitSettings split = settings.actions().split();
    String other = split.upstream();
    boolean isOther = other != null && test.client() != null && split.takes(request, test.client());
    ResponseHead response = test.response().head();
    RuledHandler rules = rules(settings);
    rules.change(request, response);
    CacheUse use = CacheUse.OFF;
    Integer lifetime = null;
    RequestHead asked = request;
    Reason storing = null;
    if (settings.isCached()) {
      boolean isLookedUp = !cold.isPastCache() && !isOther && !cold.cache().isBypassed(request);
      use = isLookedUp ? CacheUse.LOOKUP : CacheUse.BYPASS;
      if (isLookedUp) {
        asked = cold.cache().filtered(request);
        Storability storability = cold.cache().storability(asked, response);
        lifetime =
            storability.isStorable()
                ? cold.cache().freshness(response).lifetimeSeconds()
                : RequestTest.NOT_STORED;
        storing = stored(storability, cold.cache(), response);
      }
    }
    RequestHead passed = rules.passed(asked);
    return new Outcome(
        route.name(),
        isOther && other != null ? other : RouteChain.targetName(settings),
        use,
        use == CacheUse.LOOKUP ? NormalUri.of(asked) : null,
        use == CacheUse.LOOKUP ? varyBy(settings, response.fields()) : List.of(),
        lifetime,
        storing,
        null,
        passed == null ? null : withHost(settings, passed),
        response,
        explanation.because());
  }

  private static Reason stored(Storability storability, ColdCache cache, ResponseHead response) {
    var freshness = cache.freshness(response);
    return new Reason(
        "response",
        "RFC 9111 §3",
        String.valueOf(response.status()),
        storability.isStorable()
            ? "the response is fresh for "
                + freshness.lifetimeSeconds()
                + " s by "
                + freshness.source().token()
            : "the response is not stored: " + storability.explanation());
  }

  private static List<String> varyBy(RouteSettings route, Fields response) {
    var members = new TreeSet<>(route.cache().varyBy());
    for (String line : response.all("Vary")) {
      members.addAll(List.of(line.strip().split("\\s*,\\s*")));
    }
    return List.copyOf(normal(members));
  }

  /** Names of fields have no case; those of cookies do. */
  private static Set<String> normal(Collection<String> members) {
    return members.stream()
        .map(member -> member.indexOf(':') < 0 ? member.toLowerCase(Locale.ROOT) : member)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static RequestHead withHost(RouteSettings route, RequestHead passed) {
    if (route.hostRewrite() == null) {
      return passed;
    }
    RequestHead rewritten = passed.copy();
    rewritten.fields().remove("Host");
    rewritten.fields().add("Host", route.hostRewrite());
    return rewritten;
  }

  private static RuledHandler rules(RouteSettings route) {
    return RouteChain.rules(route, NOBODY, ErrorPages.NONE);
  }

  /** A route without stations. */
  private static final class ColdRoute implements ExplainedRoute {

    private final RouteSettings route;
    private final boolean isPastCache;
    private final RequestTests tests;
    private @Nullable ColdCache cache;
    private @Nullable RedirectTable moved;

    ColdRoute(RouteSettings route, boolean isPastCache, RequestTests tests) {
      this.route = route;
      this.isPastCache = isPastCache;
      this.tests = tests;
    }

    ColdCache cache() {
      if (cache == null) {
        cache =
            new ColdCache(
                CacheSettings.of(route.cache(), tests.configuration.cache()), tests.clock);
      }
      return cache;
    }

    @Override
    public RouteSettings route() {
      return route;
    }

    @Override
    public boolean isPastCache() {
      return isPastCache;
    }

    @Override
    public Explanation lookUp(RequestHead request) {
      return cache().explain(request);
    }

    @Override
    public @Nullable RedirectTable moved() {
      Path file = route.actions().redirectsFile();
      if (moved == null && file != null) {
        try {
          moved = RedirectTable.read(file, new Problems(file.toString()));
        } catch (IOException wrong) {
          throw new UncheckedIOException(wrong.getMessage(), wrong);
        }
      }
      return moved;
    }

    @Override
    public QueryRules query() {
      return QueryRules.NONE;
    }
  }

  /** One test and what came of it. */
  private record Comparison(
      RequestTest test, SectionValues expect, Outcome outcome, Problems problems) {

    void run() {
      compare(RequestTest.ROUTE, outcome.route());
      compare(RequestTest.UPSTREAM, outcome.upstream().isEmpty() ? null : outcome.upstream());
      compare(RequestTest.CACHE, outcome.cache());
      compare(RequestTest.KEY, outcome.key());
      compare(RequestTest.LIFETIME, outcome.lifetime());
      compare(RequestTest.STATUS, outcome.status());
      RequestHead passed = outcome.passed();
      compare(RequestTest.PATH, passed == null ? null : passed.pathAndQuery());
      members();
      fields(
          RequestTest.REQUEST_FIELDS,
          test.expect().requestFields(),
          passed == null ? null : passed.fields());
      ResponseHead response = outcome.response();
      fields(
          RequestTest.RESPONSE_FIELDS,
          test.expect().responseFields(),
          response == null ? null : response.fields());
    }

    private <T> void compare(Setting<T> setting, @Nullable T found) {
      T expected = expect.find(setting);
      if (expected != null && !expected.equals(found)) {
        fail(
            expect,
            setting,
            found == null ? "nothing" : setting.type().print(found),
            setting.type().print(expected));
      }
    }

    private void members() {
      List<String> expected = test.expect().varyBy();
      if (expected != null && !normal(expected).equals(normal(outcome.varyBy()))) {
        fail(
            expect,
            RequestTest.VARY_BY,
            outcome.varyBy().toString(),
            "[" + String.join(", ", expected) + "]");
      }
    }

    private void fields(
        Subsection<ValuePattern> place,
        Map<String, ValuePattern> expected,
        @Nullable Fields found) {
      for (SectionValues at : expect.all(place)) {
        ValuePattern pattern = expected.get(at.name());
        if (pattern != null && (found == null || !pattern.takes(found, at.name()))) {
          List<String> lines = found == null ? List.of() : found.all(at.name());
          problems.add(
              Problem.Kind.CONFLICT,
              at.position(),
              at.path(),
              (lines.isEmpty() ? "absent" : Problems.quote(String.join(", ", lines)))
                  + " ("
                  + outcome.because().getFirst().so()
                  + ")",
              Problems.quote(pattern.value()));
        }
      }
    }

    private void fail(SectionValues at, Setting<?> setting, String found, String expected) {
      problems.conflict(at, setting, found + because(setting), expected);
    }

    /** The explanation, in one line. */
    private String because(Setting<?> setting) {
      Reason storing = outcome.storing();
      return (storing != null && setting.equals(RequestTest.LIFETIME)
              ? Stream.of(outcome.because().getFirst(), storing)
              : outcome.because().stream())
          .map(Reason::so)
          .collect(Collectors.joining("; ", " (", ")"));
    }
  }
}
