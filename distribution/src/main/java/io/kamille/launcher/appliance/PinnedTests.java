package io.kamille.launcher.appliance;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.HeaderRules.FieldValue;
import io.kamille.core.answer.SecurityFields;
import io.kamille.core.gate.AddressRange;
import io.kamille.core.http.Fields;
import io.kamille.core.setting.SecretText;
import io.kamille.launcher.appliance.RequestTests.Outcome;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RequestTest;
import io.kamille.launcher.configuration.RequestTest.CacheUse;
import io.kamille.launcher.configuration.RequestTest.Expectation;
import io.kamille.launcher.configuration.RequestTest.Response;
import io.kamille.launcher.configuration.RequestTest.Target;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.RoutesByHost;
import io.kamille.launcher.patch.YamlWriter;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes tests that pass now, from requests that came. Confined to its thread. */
public final class PinnedTests {

  /*
   * Few and different: of requests that come to the same, the first is taken, with all that can be
   * expected of it. No fields of clients are kept anywhere, and none are needed: what a route
   * decides by stands in its settings. So the first request of a route is asked again with each of
   * its cookies, with a response of each status code, from an address of each range, and so on.
   */
  private static final int MOST = 200;

  /** A lifetime that no route is likely to have. */
  private static final int SAID_SECONDS = 77;

  private static final String MAX_AGE = "max-age=" + SAID_SECONDS;

  private static final Expectation NOTHING =
      new Expectation(null, null, null, null, null, null, null, null, Map.of(), Map.of());

  /**
   * A request that came.
   *
   * @param url with its query
   * @param status of its response; 0 if there was none
   */
  public record Seen(String method, String url, int status) {}

  private final RequestTests tests;
  private final Map<String, RouteSettings> routes;
  private final Set<String> signatures = new LinkedHashSet<>();
  private final Set<String> probed = new LinkedHashSet<>();
  private final List<String> lines = new ArrayList<>();

  private PinnedTests(Configuration configuration) {
    tests = new RequestTests(configuration);
    routes =
        configuration.routes().stream()
            .collect(
                Collectors.toMap(
                    RoutesByHost::nameOf, route -> route, (a, b) -> a, LinkedHashMap::new));
  }

  /** The section {@code tests} for these requests, a line for each test; 200 at the most. */
  public static String write(Configuration configuration, List<Seen> traffic) {
    var pinned = new PinnedTests(configuration);
    traffic.forEach(pinned::see);
    return pinned.lines.stream()
        .limit(MOST)
        .map(line -> "  - " + line + "\n")
        .collect(Collectors.joining("", "tests:\n", ""));
  }

  private void see(Seen seen) {
    Target target = Target.parse(seen.method() + " " + seen.url());
    if (target == null || lines.size() >= MOST) {
      return;
    }
    Outcome outcome = tests.outcome(test(target, Map.of(), null, 200, Map.of()));
    RouteSettings route = outcome.route() == null ? null : routes.get(outcome.route());
    if (route == null) {
      pin(target, Map.of(), null, 200, Map.of());
      return;
    }
    Map<String, String> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    route.actions().requestHeaders().remove().forEach(name -> fields.put(name, "x"));
    boolean isNew = pin(target, fields, client(route), statusOf(seen), answered(route));
    if (isNew && outcome.upstream().equals(route.upstream()) && outcome.status() == null) {
      probe(route, target, outcome);
    } else if (isNew && !route.access().isOpen()) {
      clients(route).forEach(client -> pin(target, Map.of(), client, 200, Map.of()));
    }
  }

  private static int statusOf(Seen seen) {
    boolean isAnswer = seen.status() >= 200 && seen.status() != 206 && seen.status() != 304;
    return isAnswer ? seen.status() : 200;
  }

  /** What decides about requests like that one, besides the URL. */
  private void probe(RouteSettings route, Target target, Outcome outcome) {
    clients(route).forEach(client -> pin(target, Map.of(), client, 200, Map.of()));
    for (String path : route.isCached() ? route.cache().bypassPaths() : List.<String>of()) {
      pin(at(target, path + "/x"), Map.of(), client(route), 200, Map.of());
    }
    boolean isLookedUp = outcome.cache() == CacheUse.LOOKUP && target.method().equals("GET");
    if (!isLookedUp || !probed.add(RoutesByHost.nameOf(route))) {
      return;
    }
    Map<String, String> said = Map.of("Cache-Control", MAX_AGE);
    pin(target, Map.of(), client(route), 200, said);
    pin(
        target,
        Map.of(),
        client(route),
        200,
        Map.of("Set-Cookie", "a=1", "Cache-Control", MAX_AGE));
    route.cache().bypassCookies().stream()
        .map(name -> Map.of("Cookie", name.replace("*", "x") + "=1"))
        .forEach(fields -> pin(target, fields, client(route), 200, Map.of()));
    route.cache().statusTtl().keySet().stream()
        .map(code -> Integer.parseInt(code.toLowerCase(Locale.ROOT).replace("xx", "00")))
        .forEach(code -> pin(target, Map.of(), client(route), code, Map.of()));
    parameters(route)
        .ifPresent(query -> pin(asked(target, query), Map.of(), client(route), 200, Map.of()));
  }

  /** Each parameter that a rule names, and some that none does, in no order. */
  private static Optional<String> parameters(RouteSettings route) {
    var query = route.cache().query();
    List<String> keep = query.keep();
    Stream<String> named = keep == null ? query.ignore().stream() : keep.stream();
    List<String> all = named.map(name -> name.replace("*", "x") + "=1").toList();
    return all.isEmpty() && keep == null && !query.sorts()
        ? Optional.empty()
        : Optional.of(
            Stream.concat(Stream.of("zz=1"), Stream.concat(all.stream(), Stream.of("aa=1")))
                .collect(Collectors.joining("&")));
  }

  private static Target asked(Target target, String query) {
    String uri = target.uri();
    int mark = uri.indexOf('?');
    return new Target(target.method(), (mark < 0 ? uri : uri.substring(0, mark)) + "?" + query);
  }

  private static Target at(Target target, String path) {
    int slash = target.uri().indexOf('/', target.uri().indexOf("://") + 3);
    return new Target("GET", target.uri().substring(0, slash) + path);
  }

  /** A client that the route is for; null where it is for all. */
  private static @Nullable InetAddress client(RouteSettings route) {
    return clients(route).stream().filter(route.access()::admits).findFirst().orElse(null);
  }

  /** The last address of each range that a route names, and the one behind it. */
  private static List<InetAddress> clients(RouteSettings route) {
    List<InetAddress> clients = new ArrayList<>();
    Stream.concat(route.access().allow().ranges().stream(), route.access().deny().ranges().stream())
        .map(AddressRange::toString)
        .forEach(range -> addEnds(range, clients));
    return clients;
  }

  private static void addEnds(String range, List<InetAddress> clients) {
    int slash = range.indexOf('/');
    byte[] first =
        InetAddress.ofLiteral(slash < 0 ? range : range.substring(0, slash)).getAddress();
    int free = slash < 0 ? 0 : first.length * 8 - Integer.parseInt(range.substring(slash + 1));
    BigInteger last =
        new BigInteger(1, first).or(BigInteger.ONE.shiftLeft(free).subtract(BigInteger.ONE));
    for (BigInteger address : List.of(last, last.add(BigInteger.ONE))) {
      byte[] octets = new byte[first.length];
      byte[] value = address.toByteArray();
      int length = Math.min(value.length, octets.length);
      System.arraycopy(value, value.length - length, octets, octets.length - length, length);
      try {
        clients.add(InetAddress.getByAddress(octets));
      } catch (UnknownHostException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  /** Fields of a response that the rules of the route take away. */
  private static Map<String, String> answered(RouteSettings route) {
    return route.actions().responseHeaders().remove().stream()
        .collect(Collectors.toMap(name -> name, name -> "x", (a, b) -> a));
  }

  private static RequestTest test(
      Target target,
      Map<String, String> fields,
      @Nullable InetAddress client,
      int status,
      Map<String, String> answered) {
    return new RequestTest(
        target, values(fields), client, new Response(status, values(answered)), NOTHING);
  }

  private static Map<String, FieldValue> values(Map<String, String> fields) {
    Map<String, FieldValue> values = new LinkedHashMap<>();
    fields.forEach(
        (name, value) -> values.put(name, new FieldValue(new SecretText(value, value, null))));
    return values;
  }

  /** Writes a test of what comes of that, unless one is there that comes to the same. */
  @CanIgnoreReturnValue
  private boolean pin(
      Target target,
      Map<String, String> fields,
      @Nullable InetAddress client,
      int status,
      Map<String, String> answered) {
    Outcome outcome = tests.outcome(test(target, fields, client, status, answered));
    Map<String, Object> expect = expected(outcome, fields, answered);
    if (expect.isEmpty()
        || !signatures.add(signature(target, fields, client, answered, outcome, expect))) {
      return false;
    }
    Map<String, Object> test = new LinkedHashMap<>();
    test.put("request", target.toString());
    if (!fields.isEmpty()) {
      test.put("fields", fields);
    }
    if (client != null) {
      test.put("client", client.getHostAddress());
    }
    if (outcome.passed() != null && (status != 200 || !answered.isEmpty())) {
      Map<String, Object> response = new LinkedHashMap<>();
      response.put("status", status);
      if (!answered.isEmpty()) {
        response.put("fields", answered);
      }
      test.put("response", response);
    }
    test.put("expect", expect);
    lines.add(YamlWriter.flow(test));
    return true;
  }

  /** What two tests have in common that show the same. */
  private static String signature(
      Target target,
      Map<String, String> fields,
      @Nullable InetAddress client,
      Map<String, String> answered,
      Outcome outcome,
      Map<String, Object> expect) {
    String place = outcome.because().getFirst().so();
    Map<String, Object> shown = new TreeMap<>(expect);
    shown.keySet().removeAll(List.of("key", "path"));
    String uri = target.uri();
    String names =
        Stream.of(uri.substring(uri.indexOf('?') + 1).split("&"))
            .map(parameter -> uri.indexOf('?') < 0 ? "" : parameter.replaceFirst("=.*", ""))
            .sorted()
            .collect(Collectors.joining("&"));
    String host = uri.substring(0, uri.indexOf('/', uri.indexOf("://") + 3));
    return String.join(
        " ",
        target.method(),
        host,
        place,
        names,
        fields + "",
        client + "",
        answered + "",
        shown + "");
  }

  private Map<String, Object> expected(
      Outcome outcome, Map<String, String> fields, Map<String, String> answered) {
    Map<String, Object> expect = new LinkedHashMap<>();
    put("route", outcome.route(), expect);
    put("upstream", outcome.upstream().isEmpty() ? null : outcome.upstream(), expect);
    CacheUse use = outcome.cache();
    put("cache", use == null ? null : RequestTest.CACHE.type().print(use), expect);
    put("key", outcome.key(), expect);
    put("vary-by", use == CacheUse.LOOKUP ? outcome.varyBy() : null, expect);
    Integer lifetime = outcome.lifetime();
    put("lifetime", lifetime == null ? null : RequestTest.LIFETIME.type().print(lifetime), expect);
    put("status", outcome.status(), expect);
    RouteSettings route = outcome.route() == null ? null : routes.get(outcome.route());
    if (route != null && outcome.passed() != null) {
      put("path", outcome.passed().pathAndQuery(), expect);
      var sent = new LinkedHashSet<>(fields.keySet());
      names(route.actions().requestHeaders(), sent);
      if (route.hostRewrite() != null) {
        sent.add("Host");
      }
      put("request-fields", lines(sent, outcome.passed().fields()), expect);
    }
    if (route != null && outcome.response() != null) {
      var got = new LinkedHashSet<>(answered.keySet());
      names(route.actions().responseHeaders(), got);
      if (route.actions().securityHeaders()) {
        got.addAll(SecurityFields.NAMES);
      }
      if (outcome.status() != null) {
        got.addAll(List.of("Location", "Content-Type"));
      }
      put("response-fields", lines(got, outcome.response().fields()), expect);
    }
    return expect;
  }

  private static void names(HeaderRules rules, Set<String> names) {
    names.addAll(rules.set().keySet());
    names.addAll(rules.add().keySet());
  }

  private static void put(String key, @Nullable Object value, Map<String, Object> expect) {
    if (value != null) {
      expect.put(key, value);
    }
  }

  /** What each field has; null if there is nothing to say. */
  private static @Nullable Map<String, String> lines(Set<String> names, Fields fields) {
    Map<String, String> lines = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String name : names) {
      List<String> values = fields.all(name);
      lines.put(name, values.isEmpty() ? "absent" : values.getLast());
    }
    return lines.isEmpty() ? null : lines;
  }
}
