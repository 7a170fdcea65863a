package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.JoinedFeaturesIT.Feature.*;
import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.launcher.appliance.StubOrigin.Request;
import io.kamille.launcher.chain.StationNames;
import io.kamille.launcher.configuration.Configuration;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Two features that are on together keep the promises of both: for client, origin, access log,
 * request samples, traces and explain.
 */
class JoinedFeaturesIT {

  /*
   * One appliance has a route and an upstream of its own for each pair of features, told apart by
   * the host. The same few requests go through each pair. What everyone must see is computed from
   * the pair alone: Model has one method for each observation, and no case for a pair. A feature
   * that only refuses is one row of Feature: its setting, the field that lets pass, and the status
   * code without that field.
   */

  /** What can be switched on, as settings of a route or upstream, or as the way of the client. */
  enum Feature {
    HEDGE("hedge: 30s", ""),
    RETRIES("retries: 2", ""),
    STICKY("sticky: {cookie: at, secret-file: '%secret%'}", ""),
    H2_ORIGIN("protocol: h2c", ""),
    ROUND_ROBIN("choice: round-robin", ""),
    NO_UPLOAD_BUFFER("upload-buffer: off", ""),
    MIRROR("", "mirror: {upstream: mirror}"),
    SPLIT("", "split: {upstream: other, share: 1.0}"),
    RULES(
        "",
        "request-headers: {set: {X-Env: prod}, remove: [X-Drop]},"
            + " response-headers: {set: {X-Rule: applied}, remove: [X-Origin]}"),
    REWRITE("", "path-rewrite: /v2"),
    REQUEST_ID("", "request-id: on"),
    ERROR_PAGES("", "error-pages: {5xx: {body: Sorry., intercept: on}}"),
    COMPRESS("", "cache: {compress: on}"),
    QUERY("", "cache: {query: {ignore: [utm]}}"),
    VARY(
        "",
        "cache: {vary-by: [X-Currency, 'language:de,en'], bypass-cookies: [a],"
            + " bypass-paths: [/api/past]}"),
    UNCACHED("", "cache: {enabled: off}"),
    STALE("", "cache: {stale-if-error: 1h, ttl: 1h}"),
    ACCESS("", "access: {allow: [127.0.0.1, 192.0.2.0/24]}"),
    RATE("", "rate-limit: {rate: 1000/s}"),
    SECURITY("", "security-headers: on"),
    CONTENT_LIMIT("", "request-content: 1KiB"),
    REDIRECTS("", "redirects-file: '%moved%'"),
    AUTH(
        "",
        "auth: {basic: {users-file: '%users%'}}",
        "Authorization",
        "Basic YW5uOnNlY3JldA==",
        401),
    PROXY("", ""),
    H2_CLIENT("", "");

    private final String ofUpstream;
    private final String ofRoute;
    private final String field;
    private final String value;
    private final int statusWithout;

    Feature(String ofUpstream, String ofRoute) {
      this(ofUpstream, ofRoute, "", "", 0);
    }

    /** With a field that requests must have: without it, they get that status code. */
    Feature(String ofUpstream, String ofRoute, String field, String value, int statusWithout) {
      this.ofUpstream = ofUpstream;
      this.ofRoute = ofRoute;
      this.field = field;
      this.value = value;
      this.statusWithout = statusWithout;
    }

    boolean isOfRoute() {
      return !ofRoute.isEmpty();
    }

    boolean excludes(Feature other) {
      return Set.of(STICKY, HEDGE).containsAll(Set.of(this, other))
          // One key of YAML each: `cache` cannot be given twice.
          || (ofRoute.startsWith("cache:") && other.ofRoute.startsWith("cache:"));
    }
  }

  private static final String PAGE = "0123456789".repeat(300);
  private static final String AGE = "Cache-Control: max-age=600";

  /** Of "secret", by crypt(3) of glibc. */
  static final String PASSWORD_HASH =
      "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

  /** An answer, whatever the version of HTTP. */
  private record Got(int status, Map<String, String> fields, String content) {

    private @Nullable String field(String name) {
      return fields.get(name.toLowerCase(Locale.ROOT));
    }

    /** The content without its coding. */
    private String plain() {
      if (!"gzip".equals(field("Content-Encoding"))) {
        return content;
      }
      try (var in = new GZIPInputStream(new ByteArrayInputStream(content.getBytes(ISO_8859_1)))) {
        return new String(in.readAllBytes(), ISO_8859_1);
      } catch (IOException broken) {
        throw new UncheckedIOException(broken);
      }
    }
  }

  /** A route with some features, and what everyone must see of requests for it. */
  record Model(String host, Set<Feature> on) {

    boolean has(Feature feature) {
      return on.contains(feature);
    }

    String route(Path moved, Path users) {
      StringBuilder route = new StringBuilder("{host: " + host + ", path: /api");
      route.append(", upstream: ").append(upstream());
      on.stream()
          .map(each -> each.ofRoute)
          .filter(text -> !text.isEmpty())
          .forEach(text -> route.append(", ").append(text));
      return (route + "}")
          .replace("%moved%", moved.toString())
          .replace("%users%", users.toString());
    }

    private String upstream() {
      return "u-" + host.replace('.', '-');
    }

    String settingsOfUpstream(String origin, String secret) {
      StringBuilder upstream = new StringBuilder(upstream() + ": {origins: ['" + origin + "']");
      on.stream()
          .map(each -> each.ofUpstream)
          .filter(text -> !text.isEmpty())
          .forEach(text -> upstream.append(", ").append(text.replace("%secret%", secret)));
      return upstream + (has(RETRIES) || has(HEDGE) ? "}" : ", retries: 0}");
    }

    String originTarget(String target) {
      return has(REWRITE) ? target.replaceFirst("^/api", "/v2") : target;
    }

    /**
     * A hedge is a retry, too; the appliance between us and an origin of HTTP/2 retries nothing.
     */
    private boolean isRetried() {
      return (has(RETRIES) || has(HEDGE)) && !has(SPLIT) && !has(H2_ORIGIN);
    }

    private boolean isStored() {
      return !has(SPLIT) && !has(STICKY) && !has(UNCACHED) && !has(AUTH);
    }

    /** The fields that its requests must have, by name. */
    Map<String, String> required() {
      Map<String, String> fields = new LinkedHashMap<>();
      requiring().forEach(each -> fields.put(each.field, each.value));
      return fields;
    }

    private List<Feature> requiring() {
      return on.stream().filter(each -> each.statusWithout > 0).toList();
    }

    private String client() {
      return has(PROXY) ? "192.0.2.7" : "127.0.0.1";
    }

    private String decisionOnceStored() {
      boolean isPassed = has(UNCACHED) || has(SPLIT);
      return isStored() ? "serve" : isPassed ? "pass" : "forward";
    }

    /** A response of the origin, or one from the store that came from there. */
    private void checkResponse(Got got, int status) {
      assertThat(got.status()).isEqualTo(status);
      assertThat(got.field("X-Rule")).isEqualTo(has(RULES) ? "applied" : null);
      assertThat(got.field("X-Origin")).isEqualTo(has(RULES) ? null : "stub");
      assertThat(got.field("X-Request-Id") != null).isEqualTo(has(REQUEST_ID));
      assertThat(got.field("X-Frame-Options")).isEqualTo(has(SECURITY) ? "SAMEORIGIN" : null);
    }

    private void checkForwarded(Request request) {
      assertThat(request.field("X-Env")).isEqualTo(has(RULES) ? "prod" : null);
      assertThat(request.field("X-Drop")).isEqualTo(has(RULES) ? null : "1");
      assertThat(request.field("X-Request-Id") != null).isEqualTo(has(REQUEST_ID));
      assertThat(request.field("X-Forwarded-For")).startsWith(client());
      assertThat(request.field("X-Forwarded-Host")).startsWith(host);
    }

    @Override
    public String toString() {
      return on + " at " + host;
    }
  }

  @RegisterExtension private final Journey journey = new Journey();
  private StubOrigin mirror;
  private StubOrigin other;
  private Appliance hop;
  private int asked;

  /** The line of the access log that each form has. */
  private final Map<Model, Integer> forms = new LinkedHashMap<>();

  @BeforeEach
  void open() throws IOException {
    mirror = StubOrigin.open();
    other = StubOrigin.open();
    for (StubOrigin origin : List.of(journey.origin(), mirror, other)) {
      Map<String, AtomicInteger> visits = new ConcurrentHashMap<>();
      for (String base : List.of("/api", "/v2")) {
        origin
            .on(base + "/page", ok(PAGE, AGE, "X-Origin: stub", "Content-Type: text/plain"))
            .on(base + "/page?q=1", ok(PAGE, AGE, "X-Origin: stub", "Content-Type: text/plain"))
            .on(base + "/broken", message("503 Service Unavailable", "down", "Connection: close"))
            .on(
                base + "/dies",
                visit -> {
                  if (visits
                          .computeIfAbsent(
                              visit.request().field("X-Forwarded-Host"), _ -> new AtomicInteger())
                          .incrementAndGet()
                      == 1) {
                    visit.reset();
                  } else {
                    visit.send(ok("alive", "Cache-Control: no-store", "X-Origin: stub"));
                  }
                })
            .on(base + "/form", visit -> visit.send(ok(visit.content(), "X-Origin: stub")));
      }
    }
    hop =
        Journey.start(
            "listeners: [{address: '127.0.0.1:0', protocols: [h2]}]",
            "upstreams: {site: {origins: ['" + journey.origin().url() + "'], retries: 0}}",
            "routes: [{upstream: site, cache: {enabled: off}}]",
            "forwarding: {x-forwarded: append}",
            "log: {level: error}",
            "admin: {address: 'off'}");
  }

  @AfterEach
  void close() throws IOException {
    hop.close();
    mirror.close();
    other.close();
  }

  @Test
  void twoFeaturesTogetherKeepThePromisesOfBoth() throws Exception {
    List<Model> models = pairs();
    configure(models);
    journey.appliance();
    List<String> broken = new ArrayList<>();
    for (Model model : models) {
      try {
        check(model);
      } catch (AssertionError | Exception failed) {
        broken.add(model + ": " + failed);
      }
    }
    assertThat(broken).isEmpty();
    List<String> log = journey.accessLog(asked);
    assertThat(String.join("\n", log)).doesNotContain("/v2/");
    assertThat(forms).hasSameSizeAs(models);
    forms.forEach(
        (model, line) ->
            assertThat(log.get(line))
                .startsWith(model.client() + " ")
                .contains("\"POST /api/form "));
    assertThat(read("/v1/requests?limit=1000").toString()).contains("/api/").doesNotContain("/v2/");
  }

  /** All pairs, and each feature alone. */
  static List<Model> pairs() {
    List<Model> models = new ArrayList<>();
    for (Feature one : Feature.values()) {
      for (Feature two : Feature.values()) {
        if (one.compareTo(two) <= 0 && (one == two || !one.excludes(two))) {
          models.add(new Model("p" + models.size() + ".test", EnumSet.of(one, two)));
        }
      }
    }
    return models;
  }

  /** A station that comes needs a feature that has it. */
  @Test
  void eachStationIsOnARoute() throws IOException {
    configure(pairs());
    Configuration configuration = journey.configuration();
    Set<String> stations = new HashSet<>();
    configuration.routes().forEach(route -> stations.addAll(StationNames.of(route, configuration)));
    assertThat(stations).isEqualTo(new HashSet<>(StationNames.all()));
  }

  /** The status code on the page is the one that {@link #checkRefusals} sees. */
  @Test
  void thePageHasTheStatusCodeOfEachFeatureThatRefuses() {
    for (Feature feature : Feature.values()) {
      if (feature.statusWithout > 0) {
        String setting = feature.ofRoute.substring(0, feature.ofRoute.indexOf(':'));
        assertThat(StationNames.table())
            .containsPattern("(?m)^\\| `" + setting + "` .* \\| " + feature.statusWithout + " ");
      }
    }
  }

  private void configure(List<Model> models) throws IOException {
    Path secret = Files.writeString(journey.file("secret"), "sixteen octets and more");
    Path moved = Files.writeString(journey.file("moved.csv"), "/api/moved,/api/page\n");
    Path users = Files.writeString(journey.file("users"), "ann:" + PASSWORD_HASH + "\n");
    String h2Origin = "http://" + hop.listening().getFirst();
    List<String> upstreams = new ArrayList<>();
    upstreams.add("mirror: {origins: ['" + mirror.url() + "']}");
    upstreams.add("other: {origins: ['" + other.url() + "'], retries: 0}");
    for (Model model : models) {
      String origin = model.has(H2_ORIGIN) ? h2Origin : journey.origin().url();
      upstreams.add(model.settingsOfUpstream(origin, secret.toString()));
    }
    journey.with(
        "listeners: [{address: '127.0.0.1:0', protocols: [h2, http/1.1]},"
            + " {address: '127.0.0.1:0', protocols: [h2, http/1.1],"
            + " proxy-protocol: {from: [127.0.0.1]}}]",
        "loops: 1",
        "upstreams: {" + String.join(", ", upstreams) + "}",
        "routes: ["
            + String.join(", ", models.stream().map(model -> model.route(moved, users)).toList())
            + "]",
        "admin: {address: '127.0.0.1:0', token-file: '" + journey.file("token") + "'}");
  }

  private void check(Model model) throws Exception {
    Got miss = ask(model, "GET", "/api/page", "");
    model.checkResponse(miss, 200);
    assertThat(miss.plain()).isEqualTo(PAGE);
    StubOrigin asked = model.has(SPLIT) ? other : journey.origin();
    Request forwarded = only(asked, model, "/api/page");
    model.checkForwarded(forwarded);
    if (model.has(MIRROR) && !model.has(SPLIT)) {
      Await.until(() -> !seen(mirror, model, "/api/page").isEmpty(), "a copy comes");
      model.checkForwarded(only(mirror, model, "/api/page"));
    }
    if (model.isStored()) {
      Await.until(() -> decision(model).equals("serve"), "the response is stored");
    }
    assertThat(decision(model)).isEqualTo(model.decisionOnceStored());

    checkSecondRequest(model, asked);
    checkRange(model);
    checkFailures(model, asked);
    checkForm(model, asked);
    checkRecords(model);
    checkRefusals(model);
  }

  private void checkSecondRequest(Model model, StubOrigin asked) {
    Got again = ask(model, "GET", "/api/page", "");
    model.checkResponse(again, 200);
    assertThat(again.plain()).isEqualTo(PAGE);
    assertThat(seen(asked, model, "/api/page")).hasSize(model.isStored() ? 1 : 2);
    if (model.has(COMPRESS) && model.isStored()) {
      Await.until(
          () -> "gzip".equals(ask(model, "GET", "/api/page", "").field("Content-Encoding")),
          "a compressed form is stored");
    }
  }

  private void checkRange(Model model) {
    Got part = ask(model, "GET", "/api/page", "", "Range", "bytes=10-19", "Accept-Encoding", "");
    if (model.isStored()) {
      model.checkResponse(part, 206);
      assertThat(part.content()).isEqualTo(PAGE.substring(10, 20));
    } else {
      model.checkResponse(part, 200);
    }
  }

  private void checkFailures(Model model, StubOrigin asked) {
    Got broken = ask(model, "GET", "/api/broken", "");
    assertThat(broken.status()).isEqualTo(503);
    assertThat(broken.content()).isEqualTo(model.has(ERROR_PAGES) ? "Sorry." : "down");
    assertThat(seen(asked, model, "/api/broken")).hasSize(1);

    Got dies = ask(model, "GET", "/api/dies", "");
    if (model.isRetried()) {
      model.checkResponse(dies, 200);
      assertThat(dies.content()).isEqualTo("alive");
    } else {
      assertThat(dies.status()).isEqualTo(502);
      if (model.has(ERROR_PAGES)) {
        assertThat(dies.content()).isEqualTo("Sorry.");
      }
    }
  }

  /** What stations before the cache answer by themselves. */
  private void checkRefusals(Model model) {
    if (model.has(REDIRECTS)) {
      Got moved = ask(model, "GET", "/api/moved", "");
      assertThat(moved.status()).isEqualTo(308);
      assertThat(moved.field("Location")).isEqualTo("/api/page");
    }
    if (model.has(CONTENT_LIMIT)) {
      assertThat(ask(model, "POST", "/api/form", "x".repeat(2000)).status()).isEqualTo(413);
    }
    for (Feature each : model.requiring()) {
      int seen = journey.origin().requests().size() + other.requests().size();
      assertThat(ask(model, "GET", "/api/page", "", each.field, "").status())
          .isEqualTo(each.statusWithout);
      assertThat(journey.origin().requests().size() + other.requests().size()).isEqualTo(seen);
    }
  }

  private void checkForm(Model model, StubOrigin asked) throws Exception {
    record(model);
    Got echo = ask(model, "POST", "/api/form", "a=1&b=2");
    model.checkResponse(echo, 200);
    assertThat(echo.content()).isEqualTo("a=1&b=2");
    model.checkForwarded(only(asked, model, "/api/form"));
  }

  /** The trace has what the client sent; the access log is read when all have asked. */
  private void checkRecords(Model model) throws Exception {
    forms.put(model, asked - 1);
    Await.until(
        () -> !journey.appliance().clientSide().tracing().traces().isEmpty(),
        "a trace is recorded");
    assertThat(read("/v1/traces?limit=1").path("traces").path(0).path("url").stringValue())
        .isEqualTo("http://" + model.host() + "/api/form");
  }

  private void record(Model model) throws Exception {
    String order = "{\"url\": \"http://" + model.host() + "/api/form\", \"count\": 1}";
    var answer =
        journey.send(
            journey
                .adminRequest("/v1/traces")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(order))
                .build());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private Request only(StubOrigin origin, Model model, String target) {
    List<Request> seen = seen(origin, model, target);
    assertThat(seen).as("requests for " + target).hasSize(1);
    return seen.getFirst();
  }

  private static List<Request> seen(StubOrigin origin, Model model, String target) {
    return origin.requests(model.originTarget(target)).stream()
        .filter(request -> String.valueOf(request.field("X-Forwarded-Host")).contains(model.host()))
        .toList();
  }

  private String decision(Model model) {
    Map<String, String> sent = model.required();
    sent.put("Accept-Encoding", "gzip");
    StringBuilder fields = new StringBuilder();
    sent.forEach((name, value) -> fields.append("&field=").append(name).append(": ").append(value));
    try {
      return read("/v1/explain?client="
              + model.client()
              + "&url=http://"
              + model.host()
              + "/api/page"
              + fields.toString().replace(" ", "%20"))
          .path("decision")
          .stringValue();
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private JsonNode read(String path) throws Exception {
    var answer = journey.admin(path);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JsonMapper.builder().build().readTree(answer.body());
  }

  /** One request on a connection of its own, as the features of the client say. */
  private Got ask(Model model, String method, String target, String content, String... fields) {
    asked++;
    Map<String, String> sent = new LinkedHashMap<>();
    sent.put("X-Drop", "1");
    sent.put("Accept-Encoding", "gzip");
    sent.putAll(model.required());
    for (int i = 0; i < fields.length; i += 2) {
      sent.put(fields[i], fields[i + 1]);
    }
    if (!content.isEmpty()) {
      sent.put("Content-Length", String.valueOf(content.length()));
    }
    String head = model.has(PROXY) ? "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n" : "";
    InetSocketAddress address =
        Journey.address(journey.appliance().listening().get(model.has(PROXY) ? 1 : 0));
    return model.has(H2_CLIENT)
        ? askH2(address, head, model, method, target, content, sent)
        : askH1(address, head, model, method, target, content, sent);
  }

  private static Got askH1(
      InetSocketAddress address,
      String head,
      Model model,
      String method,
      String target,
      String content,
      Map<String, String> fields) {
    StringBuilder request = new StringBuilder(head);
    request.append(method + " " + target + " HTTP/1.1\r\nHost: " + model.host() + "\r\n");
    fields.forEach((name, value) -> request.append(name + ": " + value + "\r\n"));
    request.append("\r\n").append(content);
    try (TestClient client = TestClient.connect(address)) {
      var answer = client.send(request.toString()).answer(method);
      Map<String, String> lines = new HashMap<>();
      for (String line : answer.lines()) {
        int colon = line.indexOf(':');
        lines.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
      return new Got(answer.status(), lines, answer.content());
    }
  }

  private static Got askH2(
      InetSocketAddress address,
      String head,
      Model model,
      String method,
      String target,
      String content,
      Map<String, String> fields) {
    List<String> section =
        new ArrayList<>(
            List.of(
                ":method", method, ":scheme", "http", ":path", target, ":authority", model.host()));
    fields.forEach((name, value) -> section.addAll(List.of(name.toLowerCase(Locale.ROOT), value)));
    try (TestH2Client client = TestH2Client.connectBehind(address, head)) {
      client.headers(1, content.isEmpty(), section.toArray(String[]::new));
      if (!content.isEmpty()) {
        client.data(1, content, true);
      }
      var answer = client.flush().answer(1);
      return new Got(answer.status(), answer.fields(), answer.content());
    }
  }
}
