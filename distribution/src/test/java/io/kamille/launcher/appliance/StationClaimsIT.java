package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.date;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.setting.Problem;
import io.kamille.launcher.appliance.JoinedFeaturesIT.Feature;
import io.kamille.launcher.appliance.JoinedFeaturesIT.Model;
import io.kamille.launcher.appliance.StubOrigin.Request;
import io.kamille.launcher.chain.RequestTests;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Explain, tests in the configuration and the proxy say the same of one request, whatever stations
 * are on its route.
 */
class StationClaimsIT {

  /*
   * The same requests go through routes with each feature of a route and each pair of them. Each is explained
   * first, then sent. What client and origin got becomes a test in the configuration: of each field
   * line that was there, and of each name that any message had and this one lacks. No station has a
   * case of its own here, so that a new one needs none.
   */
  /** Of the framing and the moment: tests in the configuration know neither. */
  private static final Set<String> UNTOLD =
      Set.of("connection", "content-length", "date", "transfer-encoding");

  private static final Pattern FIELD_NAME = Pattern.compile("\\b[A-Z]\\w*(-[A-Z]\\w*)+\\b");
  private static final Pattern FORWARDED = Pattern.compile("\\bkamille; fwd=([a-z-]+)");

  private static final List<String> RESPONSE =
      List.of(
          "Cache-Control: public, max-age=600",
          "Content-Type: text/plain",
          "Server: stub",
          "ETag: \"v1\"",
          "Vary: X-A",
          "Connection: X-Hop",
          "X-Hop: 1",
          "X-Origin: stub",
          "X-Request-Id: of-the-origin",
          "Surrogate-Key: a b",
          "Cache-Status: behind; hit, kamille; hit");

  private static final String OF_OWN_ANSWERS =
      "request-id: on, security-headers: on, response-headers: {set: {X-Rule: applied}},"
          + " access: {allow: [192.0.2.0/24]}";

  /** What a client sends, and what the origin answers if it is asked. */
  private enum Sent {
    GET("GET", 200),
    HTTPS("GET", 200, "X-Forwarded-Proto: https"),
    WITH_FIELDS("GET", 200, "X-Request-Id: of-the-client", "X-Drop: 1", "Cookie: a=b"),
    OF_A_LANGUAGE("GET", 200, "Accept-Language: fr, de;q=0.5", "X-Currency: EUR"),
    CONDITIONAL("GET", 200, "If-None-Match: \"v1\""),
    NOT_MODIFIED("GET", 304, "If-None-Match: \"v1\", W/\"v1\"", "Cache-Control: no-store"),
    RANGE("GET", 206, "Range: bytes=0-9"),
    HEAD("HEAD", 200),
    POST("POST", 200, "Content-Length: 3"),
    LARGE_POST("POST", 200, "Content-Length: 2000"),
    BROKEN("GET", 503),
    NOT_FOUND("GET", 404, "X-Forwarded-Proto: https"),
    NO_STORE("GET", 200, "Cache-Control: no-store"),
    PAST("GET", 200),
    ONLY_STORED("GET", 200, "Cache-Control: only-if-cached"),
    WITHOUT_REQUIRED("GET", 200),
    MOVED("GET", 200);

    private final String method;
    private final int status;
    private final String lines;

    Sent(String method, int status, String... lines) {
      this.method = method;
      this.status = status;
      this.lines = String.join("\n", lines);
    }

    private String target() {
      return this == MOVED ? "/api/moved" : "/api/" + name().toLowerCase(Locale.ROOT);
    }

    private String content() {
      return this == POST ? "abc" : this == LARGE_POST ? "x".repeat(2000) : "";
    }

    private List<String> originLines() {
      List<String> own = new ArrayList<>(RESPONSE);
      if (this == WITH_FIELDS) {
        own.add("Set-Cookie: s=1");
      }
      return own;
    }

    private String answer() {
      String head =
          "HTTP/1.1 "
              + status
              + " x\r\nDate: "
              + date(0)
              + "\r\n"
              + String.join("\r\n", originLines());
      boolean isEmpty = status == 304 || method.equals("HEAD");
      String content = "0123456789".repeat(status == 206 ? 1 : 300);
      String length = status == 304 ? "" : "\r\nContent-Length: " + content.length();
      return head + length + "\r\n\r\n" + (isEmpty ? "" : content);
    }
  }

  /** One request, and what came of it. */
  private record Case(
      String host, Sent sent, List<String> lines, Answer got, @Nullable Request forwarded) {

    private Map<String, String> response() {
      return byName(got.lines());
    }

    private Map<String, String> request() {
      return forwarded == null
          ? Map.of()
          : byName(forwarded.head().lines().skip(1).filter(line -> !line.isEmpty()).toList());
    }

    private boolean isRefused() {
      return got.field("Proxy-Status") != null;
    }

    /** As a test of the configuration: what was there, and none of the other names. */
    private String test(Set<String> names) {
      List<String> expected = new ArrayList<>();
      if (forwarded == null) {
        expected.add("status: " + got.status());
      } else {
        expected.add("request-fields: " + expected(request(), names));
      }
      if (!isRefused()) {
        expected.add("response-fields: " + expected(response(), names));
      }
      String asked = sent.method + " http://" + host + sent.target();
      String answer = "{status: " + sent.status + ", fields: " + map(sent.originLines()) + "}";
      return "{request: "
          + asked
          + ", client: 127.0.0.1, fields: "
          + map(lines)
          + ", response: "
          + answer
          + ", expect: {"
          + String.join(", ", expected)
          + "}}";
    }

    private static String expected(Map<String, String> there, Set<String> names) {
      return names.stream()
          .map(name -> name + ": " + quoted(pattern(name, there.getOrDefault(name, "absent"))))
          .collect(joining(", ", "{", "}"));
    }

    /** Random values, and seconds, are compared up to them. */
    private static String pattern(String name, String value) {
      if (name.equals("x-request-id")) {
        return value.matches("[0-9a-f]{32}") ? "present" : value;
      }
      return value.replaceFirst("^at=.*", "at=*").replaceFirst("(ttl=).*", "$1*");
    }

    @Override
    public String toString() {
      return sent + " " + host;
    }
  }

  @RegisterExtension private final Journey journey = new Journey();
  private StubOrigin other;

  /** By their hosts. */
  private final Map<String, String> routes = new LinkedHashMap<>();

  private final Map<String, String> upstreams = new HashMap<>();
  private final Map<String, Map<String, String>> required = new HashMap<>();

  @BeforeEach
  void open() throws IOException {
    other = StubOrigin.open();
  }

  @AfterEach
  void close() throws IOException {
    other.close();
  }

  @Test
  void explainTestsAndTheProxySayTheSame() throws Exception {
    start();
    List<String> wrong = new ArrayList<>();
    List<Case> cases = new ArrayList<>();
    for (String host : routes.keySet()) {
      for (Sent sent : Sent.values()) {
        cases.add(asked(host, sent, wrong));
      }
    }
    Set<String> names = new TreeSet<>();
    cases.forEach(each -> names.addAll(each.response().keySet()));
    cases.forEach(each -> names.addAll(each.request().keySet()));
    for (String host : routes.keySet()) {
      List<Case> own = cases.stream().filter(each -> each.host().equals(host)).toList();
      run(own, names, wrong);
    }
    assertThat(wrong).isEmpty();
  }

  /** Has the requests of a route be tests of a configuration with that route alone. */
  private void run(List<Case> cases, Set<String> names, List<String> wrong) {
    String host = cases.getFirst().host();
    withRoutes(List.of(host));
    journey.with(
        "tests: [" + cases.stream().map(each -> each.test(names)).collect(joining(",\n  ")) + "]");
    for (Problem problem : RequestTests.failed(journey.configuration(), "f")) {
      int index = Integer.parseInt(problem.path().replaceAll("[^0-9]*([0-9]+).*", "$1"));
      wrong.add(cases.get(index) + " " + routes.get(host) + ": " + problem);
    }
  }

  private void start() throws IOException {
    Files.writeString(journey.file("secret"), "sixteen octets and more");
    Files.writeString(journey.file("moved.csv"), "/api/moved,/api/page\n");
    Files.writeString(journey.file("users"), "ann:" + JoinedFeaturesIT.PASSWORD_HASH + "\n");
    for (Model model : JoinedFeaturesIT.pairs()) {
      if (model.on().stream().allMatch(each -> each.isOfRoute() || each == Feature.STICKY)) {
        Path secret = journey.file("secret");
        String origin = journey.origin().url();
        required.put(model.host(), model.required());
        routes.put(model.host(), model.route(journey.file("moved.csv"), journey.file("users")));
        upstreams.put(model.host(), model.settingsOfUpstream(origin, secret.toString()));
      }
    }
    for (String own :
        List.of("redirect: 'https://other.test{uri}'", "respond: {status: 404, body: x}")) {
      String host = own.substring(0, own.indexOf(':')) + ".test";
      routes.put(host, "{host: " + host + ", " + own + ", " + OF_OWN_ANSWERS + "}");
    }
    for (Sent sent : Sent.values()) {
      journey.origin().on(sent.target(), visit -> answer(visit, sent));
      journey.origin().on(sent.target().replace("/api/", "/v2/"), visit -> answer(visit, sent));
    }
    journey.with(
        "listeners: [{address: '127.0.0.1:0', trusted-proxies: {from: [127.0.0.1]}}]", "loops: 1");
    withRoutes(routes.keySet());
    journey.appliance();
  }

  private void withRoutes(Collection<String> hosts) {
    List<String> groups = new ArrayList<>();
    groups.add("mirror: {origins: ['" + other.url() + "']}");
    groups.add("other: {origins: ['" + journey.origin().url() + "'], retries: 0}");
    hosts.stream().filter(upstreams::containsKey).map(upstreams::get).forEach(groups::add);
    journey.with(
        "upstreams: {" + String.join(", ", groups) + "}",
        "routes: [" + hosts.stream().map(routes::get).collect(joining(", ")) + "]");
  }

  private static void answer(StubOrigin.Visit visit, Sent sent) throws IOException {
    visit.content();
    visit.send(sent.answer());
  }

  /** Explains a request, sends it, and holds what was said against what came of it. */
  private Case asked(String host, Sent sent, List<String> wrong) throws Exception {
    List<String> lines = new ArrayList<>(sent.lines.lines().toList());
    lines.add("X-Forwarded-For: 192.0.2.7");
    lines.add("Accept-Encoding: gzip");
    if (sent != Sent.WITHOUT_REQUIRED) {
      required
          .getOrDefault(host, Map.of())
          .forEach((name, value) -> lines.add(name + ": " + value));
    }
    JsonNode explained = explain(host, sent, lines);
    int before = journey.origin().requests().size();
    String head =
        sent.method
            + " "
            + sent.target()
            + " HTTP/1.1\r\nHost: "
            + host
            + "\r\n"
            + String.join("\r\n", lines);
    Answer got;
    try (TestClient client = TestClient.connect(journey.address())) {
      got = client.send(head + "\r\n\r\n" + sent.content()).answer(sent.method);
    }
    List<Request> came = journey.origin().requests();
    Case done = new Case(host, sent, lines, got, came.size() == before ? null : came.get(before));
    compare(done, explained, wrong);
    return done;
  }

  private static void compare(Case done, JsonNode explained, List<String> wrong) {
    String decision = explained.path("decision").stringValue();
    String expected = done.forwarded() != null ? "" : done.isRefused() ? "refuse" : "answer";
    if (!expected.isEmpty() && !expected.equals(decision)) {
      wrong.add(done + ": explained as " + decision + ", was " + expected);
    }
    String status = done.response().getOrDefault("cache-status", "");
    Matcher told = FORWARDED.matcher(status);
    String fwd = told.find() ? told.group(1) : null;
    if (fwd != null && !done.isRefused() && !fwd.equals(explained.path("fwd").stringValue(null))) {
      wrong.add(done + ": explained as " + explained.path("fwd") + ", was " + status);
    }
    if (done.got().status() == 304) {
      return; // nobody knows that before
    }
    for (JsonNode step : explained.path("because")) {
      Matcher name = FIELD_NAME.matcher(step.path("so").stringValue());
      while (name.find()) {
        String key = name.group().toLowerCase(Locale.ROOT);
        if (!done.response().containsKey(key) && !done.request().containsKey(key)) {
          wrong.add(done + ": no message has " + name.group() + " of the step " + step);
        }
      }
    }
  }

  private JsonNode explain(String host, Sent sent, List<String> lines) throws Exception {
    String fields = lines.stream().map(line -> "&field=" + encoded(line)).collect(joining());
    String url = "http://" + host + sent.target();
    var answer =
        journey.admin(
            "/v1/explain?client=127.0.0.1&method=" + sent.method + "&url=" + url + fields);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JsonMapper.builder().build().readTree(answer.body());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static Map<String, String> byName(Collection<String> lines) {
    Map<String, String> fields = new TreeMap<>();
    for (String line : lines) {
      int colon = line.indexOf(':');
      String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
      if (!UNTOLD.contains(name)) {
        fields.put(name, line.substring(colon + 1).strip());
      }
    }
    return fields;
  }

  /** Field lines as a mapping of YAML. */
  private static String map(List<String> lines) {
    return lines.stream()
        .map(line -> line.split(": ", 2))
        .map(line -> line[0] + ": " + quoted(line[1]))
        .collect(joining(", ", "{", "}"));
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
