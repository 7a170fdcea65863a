package io.kamille.launcher.configuration;

import io.kamille.cache.key.NormalUri;
import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.core.answer.HeaderRules.FieldValue;
import io.kamille.core.gate.AddressRange;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.route.ValuePattern;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A request, and what the configuration must make of it.
 *
 * @param request what is asked for
 * @param fields header fields of the request
 * @param client whose it is, or the trusted proxy that sends it; null to leave that open
 * @param response what an origin would answer
 * @param expect what must come of it
 */
public record RequestTest(
    Target request,
    Map<String, FieldValue> fields,
    @Nullable InetAddress client,
    Response response,
    Expectation expect) {

  public static final String LOOKUP = "lookup";
  public static final String BYPASS = "bypass";
  public static final String OFF = "off";

  /** No lifetime, because the response is not stored. */
  public static final int NOT_STORED = -1;

  /**
   * A method and an absolute URI.
   *
   * @param uri in normal form
   */
  public record Target(String method, String uri) {

    /** Methods that no route decides about. */
    private static final Set<String> UNROUTED =
        Set.of("CONNECT", "TRACE", "PURGE", "PURGEKEYS", "BAN");

    /** Reads both; null if no test can ask for that. */
    public static @Nullable Target parse(String text) {
      int space = text.indexOf(' ');
      String method = space < 0 ? "GET" : text.substring(0, space);
      String uri = NormalUri.of(text.substring(space + 1));
      return uri != null && Octets.isToken(method) && !UNROUTED.contains(method)
          ? new Target(method, uri)
          : null;
    }

    @Override
    public String toString() {
      return method.equals("GET") ? uri : method + " " + uri;
    }
  }

  /** What an origin would answer. */
  public record Response(int status, Map<String, FieldValue> fields) {

    private static final Section<Response> SECTION =
        Section.of(
            Response.class,
            Setting.of("status", ValueTypes.wholeNumber(200, 599), "The status code.")
                .defaultsTo(200),
            FieldValue.SECTION
                .named("fields", "The header fields, by name.")
                .withShorthand(FieldValue.VALUE));

    /** As it would come, with fields as they are written. */
    public ResponseHead head() {
      ResponseHead head = ResponseHead.of(status);
      fields.forEach((name, field) -> head.fields().add(name, field.text().written()));
      return head;
    }
  }

  /** What must come of a request; what is null is not looked at. */
  public record Expectation(
      @Nullable String route,
      @Nullable String upstream,
      @Nullable String cache,
      @Nullable String key,
      @Nullable List<String> varyBy,
      @Nullable Integer lifetime,
      @Nullable Integer status,
      @Nullable String path,
      Map<String, ValuePattern> requestFields,
      Map<String, ValuePattern> responseFields) {}

  public static final Setting<String> ROUTE =
      expectation(
          "route",
          ValueTypes.text("name of a route", "the name of a route", any -> true),
          "The route, by the name that log and explain have: its host and path.");

  public static final Setting<String> UPSTREAM =
      expectation(
          "upstream",
          ValueTypes.upstream(),
          "The upstream that gets the request. `redirect`, `respond` or `root` where the route"
              + " answers by itself.");

  public static final Setting<String> CACHE =
      expectation(
          "cache",
          ValueTypes.oneOf(
              Stream.of(LOOKUP, BYPASS, OFF).map(word -> Map.entry(word, word)).toList()),
          "`lookup`: a stored response may be the answer. `bypass`: the request passes the"
              + " cache by. `off`: the route has no cache.");

  public static final Setting<String> KEY =
      expectation(
          "key",
          new ValueType<>("URL", "", "an absolute URL", NormalUri::of, uri -> uri),
          "The URL that stands for the response in the cache, with the query that counts.");

  public static final Setting<List<String>> VARY_BY =
      expectation(
          "vary-by",
          RouteCacheSettings.VARY_BY,
          "All that responses under the key are told apart by: `cache.vary-by` of the route, and"
              + " `Vary` of the response.");

  public static final Setting<Integer> LIFETIME =
      expectation(
          "lifetime",
          ValueTypes.orWord(
              "not-stored", NOT_STORED, ValueTypes.seconds(Duration.ZERO, Duration.ofDays(25_000))),
          "How long the response is fresh, or `not-stored`.");

  public static final Setting<Integer> STATUS =
      expectation(
          "status",
          ValueTypes.wholeNumber(200, 599),
          "The status code of Kamille's own answer: that of `respond` or `redirect`, or of a"
              + " refusal.");

  public static final Setting<String> PATH =
      expectation(
          "path",
          ValueTypes.text(
              "path and query", "a path that begins with /", text -> text.startsWith("/")),
          "The path and query that the origin gets.");

  public static final Subsection<ValuePattern> REQUEST_FIELDS =
      ValuePattern.named("request-fields", "Fields that the origin gets.");

  public static final Subsection<ValuePattern> RESPONSE_FIELDS =
      ValuePattern.named(
          "response-fields",
          "Fields that the client gets, after `response-headers`, or of an answer of the route's"
              + " own.");

  private static <T> Setting<T> expectation(String key, ValueType<T> type, String description) {
    return Setting.of(key, type, description).orElse("not looked at");
  }

  private static final Section<Expectation> EXPECTED =
      Section.of(
          Expectation.class,
          ROUTE,
          UPSTREAM,
          CACHE,
          KEY,
          VARY_BY,
          LIFETIME,
          STATUS,
          PATH,
          REQUEST_FIELDS,
          RESPONSE_FIELDS);

  public static final Subsection<Expectation> EXPECT =
      EXPECTED.one("expect", "What must come of it. A test needs one expectation at least.");

  static final Setting<Target> REQUEST =
      Setting.of(
          "request",
          new ValueType<>(
              "method and URL",
              "",
              "a URL such as http://example.org/cart, or a method before it: POST"
                  + " http://example.org/cart",
              Target::parse,
              Target::toString),
          "What is asked for: `http://example.org/cart`, or with a method before it. No `PURGE` or"
              + " `BAN`.");

  static final Section<RequestTest> SECTION =
      Section.of(
          RequestTest.class,
          REQUEST,
          FieldValue.SECTION
              .named("fields", "The header fields of the request, by name.")
              .withShorthand(FieldValue.VALUE),
          Setting.of(
                  "client",
                  new ValueType<>(
                      "IP address",
                      "",
                      "an IP address",
                      RequestTest::address,
                      NetUtil::toAddressString),
                  "The address that the request comes from, for `access` and `split`. If it is in"
                      + " `trusted-proxies.from` of a listener, the fields of the request name the"
                      + " client, its scheme and its host. The first such listener counts.")
              .orElse("any client"),
          Response.SECTION.one(
              "response", "What the origin would answer, for `lifetime` and `response-fields`."),
          EXPECT);

  private static @Nullable InetAddress address(String text) {
    return text.indexOf('/') >= 0 || AddressRange.parse(text) == null
        ? null
        : InetAddress.ofLiteral(text);
  }

  /** The request as it would come, with fields as they are written. */
  public RequestHead head() {
    RequestHead head = RequestHead.of(request.method(), request.uri());
    fields.forEach((name, field) -> head.fields().add(name, field.text().written()));
    return head;
  }
}
