package io.kamille.launcher.appliance;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.SecurityFields;
import io.kamille.core.gate.AddressRange;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.route.ValuePattern;
import io.kamille.launcher.appliance.RequestTests.Outcome;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RequestTest;
import io.kamille.launcher.configuration.RequestTest.Target;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.RoutesByHost;
import io.kamille.launcher.patch.YamlWriter;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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

  /** With a lifetime that no route is likely to have. */
  private static final Map<String, String> FRESH = Map.of("Cache-Control", "max-age=77");

  /** Fields of responses that routes give, beside those of their rules. */
  private static final List<String> OF_ANSWERS =
      Stream.concat(Stream.of("Location", "Content-Type"), SecurityFields.NAMES.stream()).toList();

  /**
   * A request that came.
   *
   * @param request its method and URL
   * @param status of its response; 0 if there was none
   */
  public record Seen(String request, int status) {}

  private final RequestTests tests;
  private final Set<List<Object>> signatures = new HashSet<>();
  private final Set<String> probed = new HashSet<>();
  private final List<String> lines = new ArrayList<>();

  private PinnedTests(Configuration configuration) {
    tests = new RequestTests(configuration);
  }

  /** The section {@code tests} for these requests, a line for each test; 200 at the most. */
  public static String write(Configuration configuration, List<Seen> traffic) {
    var pinned = new PinnedTests(configuration);
    traffic.forEach(pinned::see);
    return pinned.lines.stream()
        .map(line -> "  - " + line + "\n")
        .collect(Collectors.joining("", "tests:\n", ""));
  }

  private void see(Seen seen) {
    Target target = Target.parse(seen.request());
    if (target == null) {
      return;
    }
    Outcome outcome = tests.outcome(head(target, Map.of()), null, ResponseHead.of(200));
    RouteSettings route = outcome.route;
    if (route == null) {
      pin(target, Map.of(), null, 200, Map.of());
      return;
    }
    Map<String, String> fields = removed(route.actions().requestHeaders());
    Map<String, String> answered = removed(route.actions().responseHeaders());
    boolean isAnswer = seen.status() >= 200 && seen.status() != 206 && seen.status() != 304;
    if (pin(target, fields, client(route), isAnswer ? seen.status() : 200, answered)) {
      clients(route).forEach(client -> pin(target, Map.of(), client, 200, Map.of()));
      boolean isLookedUp = RequestTest.LOOKUP.equals(outcome.found.get(RequestTest.CACHE));
      if (isLookedUp && target.method().equals("GET")) {
        probe(route, target);
      }
    }
  }

  /** What the cache decides by about requests like that one, besides the URL. */
  private void probe(RouteSettings route, Target target) {
    if (!probed.add(RoutesByHost.nameOf(route))) {
      return;
    }
    InetAddress client = client(route);
    String uri = target.uri();
    String host = host(uri);
    for (String path : route.cache().bypassPaths()) {
      pin(new Target("GET", host + path + "/x"), Map.of(), client, 200, Map.of());
    }
    pin(target, Map.of(), client, 200, FRESH);
    for (String cookie : route.cache().bypassCookies()) {
      pin(target, Map.of("Cookie", example(cookie)), client, 200, Map.of());
    }
    for (String code : route.cache().statusTtl().keySet()) {
      int status = Integer.parseInt(code.toLowerCase(Locale.ROOT).replace("xx", "00"));
      pin(target, Map.of(), client, status, Map.of());
    }
    var query = route.cache().query();
    List<String> names = query.keep() == null ? query.ignore() : query.keep();
    String parameters =
        Stream.concat(Stream.of("zz", "aa"), names.stream())
            .map(PinnedTests::example)
            .collect(Collectors.joining("&"));
    String path = uri.substring(0, (uri + "?").indexOf('?'));
    pin(new Target("GET", path + "?" + parameters), Map.of(), client, 200, Map.of());
  }

  /** A value for a name or a pattern of names. */
  private static String example(String name) {
    return name.replace("*", "x") + "=1";
  }

  private static String host(String uri) {
    return uri.substring(0, uri.indexOf('/', uri.indexOf("://") + 3));
  }

  /** A client that the route is for; null where it is for all. */
  private static @Nullable InetAddress client(RouteSettings route) {
    return clients(route).stream().filter(route.access()::admits).findFirst().orElse(null);
  }

  /** The last address of each range that a route names, and one of the range beside it. */
  private static List<InetAddress> clients(RouteSettings route) {
    List<InetAddress> clients = new ArrayList<>();
    for (var ranges : List.of(route.access().allow(), route.access().deny())) {
      for (AddressRange range : ranges.ranges()) {
        String[] parts = range.toString().split("/", 2);
        byte[] last = InetAddress.ofLiteral(parts[0]).getAddress();
        byte[] beside = last.clone();
        int bits = last.length * Byte.SIZE;
        int prefix = parts.length == 1 ? bits : Integer.parseInt(parts[1]);
        for (int bit = prefix; bit < bits; bit++) {
          last[bit / 8] |= (byte) (0x80 >> bit % 8);
        }
        beside[Math.max(prefix - 1, 0) / 8] ^= (byte) (0x80 >> Math.max(prefix - 1, 0) % 8);
        clients.add(InetAddress.ofLiteral(NetUtil.bytesToIpAddress(last)));
        clients.add(InetAddress.ofLiteral(NetUtil.bytesToIpAddress(beside)));
      }
    }
    return clients;
  }

  /** Fields that the rules take away. */
  private static Map<String, String> removed(HeaderRules rules) {
    Map<String, String> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    rules.remove().forEach(name -> fields.put(name, "x"));
    return fields;
  }

  private static RequestHead head(Target target, Map<String, String> fields) {
    RequestHead head = RequestHead.of(target.method(), target.uri());
    fields.forEach(head.fields()::add);
    return head;
  }

  /** Writes a test of what comes of that, unless one is there that comes to the same. */
  @CanIgnoreReturnValue
  private boolean pin(
      Target target,
      Map<String, String> fields,
      @Nullable InetAddress client,
      int status,
      Map<String, String> answered) {
    ResponseHead response = ResponseHead.of(status);
    answered.forEach(response.fields()::add);
    Outcome outcome = tests.outcome(head(target, fields), client, response);
    Map<String, Object> expect = expected(outcome, fields.keySet(), answered.keySet());
    Map<String, Object> shown = new TreeMap<>(expect);
    shown.keySet().removeAll(List.of("key", "path"));
    String names = target.uri().replaceFirst("[^?]*", "").replaceAll("=[^&]*", "");
    List<Object> signature =
        List.of(
            target.method(),
            host(target.uri()),
            names,
            outcome.reached,
            fields,
            String.valueOf(client),
            answered,
            shown);
    if (lines.size() >= MOST || !signatures.add(signature)) {
      return false;
    }
    Map<String, Object> test = new LinkedHashMap<>();
    test.put("request", target);
    if (!fields.isEmpty()) {
      test.put("fields", fields);
    }
    if (client != null) {
      test.put("client", NetUtil.toAddressString(client));
    }
    if (outcome.passed != null && (status != 200 || !answered.isEmpty())) {
      test.put(
          "response",
          answered.isEmpty()
              ? Map.of("status", status)
              : new TreeMap<>(Map.of("status", status, "fields", answered)));
    }
    test.put("expect", expect);
    lines.add(YamlWriter.flow(test));
    return true;
  }

  private static Map<String, Object> expected(
      Outcome outcome, Set<String> fields, Set<String> answered) {
    Map<String, Object> expect = new LinkedHashMap<>();
    outcome.found.forEach((setting, value) -> expect.put(setting.key(), value));
    RouteSettings route = outcome.route;
    if (route != null && outcome.passed != null) {
      HeaderRules rules = route.actions().requestHeaders();
      expect.put("request-fields", shown(outcome.passed, fields, rules, List.of("Host")));
    }
    if (route != null && outcome.response != null) {
      HeaderRules rules = route.actions().responseHeaders();
      expect.put("response-fields", shown(outcome.response, answered, rules, OF_ANSWERS));
    }
    return expect;
  }

  /** What the given fields have, those that the rules set, and the usual ones that are there. */
  private static Map<String, String> shown(
      Fields fields, Set<String> given, HeaderRules rules, List<String> usual) {
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    names.addAll(given);
    names.addAll(rules.set().keySet());
    names.addAll(rules.add().keySet());
    usual.stream().filter(name -> !fields.all(name).isEmpty()).forEach(names::add);
    Map<String, String> shown = new LinkedHashMap<>();
    for (String name : names) {
      List<String> lines = fields.all(name);
      String value = lines.isEmpty() ? "absent" : lines.getLast();
      shown.put(name, ValuePattern.isValue(value) ? value : "present");
    }
    return shown;
  }
}
