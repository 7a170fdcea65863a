package io.kamille.launcher.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.Problem;
import io.kamille.launcher.cli.KamilleCommand;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading.Accepted;
import io.kamille.launcher.configuration.ConfigurationReading.Refused;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests in the configuration are run by the configuration alone. */
class RequestTestsTest {

  static final String SHOP =
      """
      listeners: [{address: "127.0.0.1:0"}]
      upstreams:
        shop: {origins: [{url: "http://192.0.2.1"}]}
        api: {origins: [{url: "http://192.0.2.3"}]}
      routes:
        - host: shop.example
          upstream: shop
          request-headers: {set: {X-Env: prod}, remove: [X-Debug]}
          response-headers: {remove: [Server], set: {X-Frame-Options: DENY}}
          cache:
            default-ttl: 60s
            status-ttl: {404: 5s}
            bypass-cookies: [session]
            bypass-paths: [/cart]
            vary-by: [X-Currency, "language:de,en"]
            query: {ignore: [utm_*], sort: on}
        - {host: shop.example, path: /api, upstream: api, path-rewrite: /v2, host-rewrite: api.internal, cache: off}
        - {host: shop.example, path: /admin, upstream: shop, access: {allow: ["10.0.0.0/8"]}}
        - {host: shop.example, path: /old, redirect: "https://www.shop.example{uri}"}
        - {host: down.example, respond: {status: 503, body: later}}
      """;

  static Configuration configuration(String text) {
    return switch (ConfigurationFile.parse("f", text.getBytes(StandardCharsets.UTF_8))) {
      case Accepted(Configuration configuration) -> configuration;
      case Refused refused -> throw new AssertionError(refused.problems().toString());
    };
  }

  private static List<String> failed(String... tests) {
    return RequestTests.failed(configuration(SHOP + "tests:\n" + lines(tests)), "f").stream()
        .map(Problem::toString)
        .toList();
  }

  private static String lines(String... tests) {
    return List.of(tests).stream().map(test -> "  - " + test + "\n").collect(Collectors.joining());
  }

  @Test
  void checksOfClientsAndFilesOfRedirectsDecide(@TempDir Path directory) throws IOException {
    Path users = directory.resolve("users");
    Files.writeString(users, "ann:$2y$04$" + "a".repeat(53) + "\n");
    Path moved = directory.resolve("moved.csv");
    Files.writeString(moved, "/about-us,/about\n");
    String text =
        """
        listeners: [{address: "127.0.0.1:0"}]
        upstreams: {shop: {origins: [{url: "http://192.0.2.1"}]}}
        routes:
          - {host: a.example, upstream: shop, redirects-file: "%m", security-headers: on}
          - {host: a.example, path: /admin, upstream: shop, auth: {basic: {users-file: "%u"}}}
          - {host: b.example, upstream: shop, auth: {forward: {upstream: shop}}}
        tests:
          - {request: http://a.example/about-us, expect: {status: 308, response-fields: {Location: /about, X-Frame-Options: present}}}
          - {request: http://a.example/admin, expect: {status: 401}}
          - {request: http://a.example/admin, fields: {Authorization: Basic x}, response: {fields: {Cache-Control: max-age=77}}, expect: {lifetime: not-stored}}
          - {request: http://b.example/, response: {fields: {Cache-Control: max-age=77}}, expect: {lifetime: not-stored}}
          - {request: http://b.example/, response: {fields: {Cache-Control: "public, max-age=77"}}, expect: {lifetime: 77s}}
        """
            .replace("%m", moved.toString())
            .replace("%u", users.toString());
    assertThat(RequestTests.failed(configuration(text), "f")).isEmpty();
  }

  /** What a test says of a response is what a client gets. */
  @Test
  void whatStationsMakeOfAResponseIsFound(@TempDir Path directory) throws IOException {
    Path secret = Files.writeString(directory.resolve("secret"), "sixteen octets and more");
    String text =
        """
        listeners: [{address: "127.0.0.1:0"}]
        upstreams:
          web: {origins: ["http://192.0.2.1"]}
          sticky: {origins: ["http://192.0.2.1"], sticky: {cookie: at, secret-file: "%s"}}
        routes:
          - {host: id.example, upstream: web, request-id: on}
          - {host: vary.example, upstream: web, cache: {vary-by: [X-A, "language:de,en"]}}
          - {host: coded.example, upstream: web, cache: {compress: on}}
          - {host: sticky.example, upstream: sticky}
          - {host: past.example, upstream: web, cache: off}
          - {host: page.example, upstream: web, error-pages: {404: {body: x, intercept: on}}}
          - {host: auth.example, upstream: web, auth: {forward: {upstream: web, response-fields: [X-User]}}}
        tests:
          - {request: http://id.example/, fields: {X-Request-Id: mine}, expect: {request-fields: {X-Request-Id: mine}}}
          - {request: http://id.example/, response: {fields: {X-Request-Id: theirs}}, expect: {response-fields: {X-Request-Id: theirs}}}
          - {request: http://id.example/, expect: {request-fields: {X-Request-Id: present}, response-fields: {X-Request-Id: present}}}
          - {request: http://vary.example/, response: {fields: {Vary: X-B}}, expect: {vary-by: [x-a, "language:de,en", x-b], response-fields: {Vary: "accept-language, x-a"}}}
          - {request: http://past.example/, response: {fields: {Connection: X-Hop, X-Hop: a, Keep-Alive: b}}, expect: {response-fields: {Connection: absent, X-Hop: absent, Keep-Alive: absent, Cache-Status: absent}}}
          - {request: http://coded.example/, response: {fields: {Content-Type: text/html, Cache-Control: max-age=9}}, expect: {request-fields: {Accept-Encoding: identity}, response-fields: {Vary: Accept-Encoding, Cache-Status: "kamille; fwd=uri-miss; stored; ttl=9"}}}
          - {request: http://coded.example/, fields: {Accept-Encoding: gzip}, response: {fields: {Content-Type: text/html, ETag: '"a"'}}, expect: {response-fields: {Content-Encoding: gzip, ETag: 'W/"a"'}}}
          - {request: http://coded.example/, response: {fields: {Content-Type: image/png}}, expect: {response-fields: {Vary: absent}}}
          - {request: http://sticky.example/, response: {fields: {Cache-Control: max-age=9}}, expect: {lifetime: not-stored, response-fields: {Set-Cookie: "at=*", Cache-Status: "kamille; fwd=uri-miss; detail=set-cookie"}}}
          - {request: http://sticky.example/, fields: {Cookie: at=x}, response: {fields: {Cache-Control: max-age=9}}, expect: {lifetime: 9s, response-fields: {Set-Cookie: absent}}}
          - {request: http://page.example/, response: {status: 404, fields: {Content-Type: a/b, ETag: x}}, expect: {response-fields: {Content-Type: "text/*", ETag: absent}}}
          - {request: http://auth.example/, fields: {X-User: me, X_User: me}, expect: {request-fields: {X-User: absent, X_User: absent}}}
        """
            .replace("%s", secret.toString());
    assertThat(RequestTests.failed(configuration(text), "f"))
        .extracting(Problem::path)
        .containsExactly(
            "tests[0].expect.request-fields.X-Request-Id",
            "tests[1].expect.response-fields.X-Request-Id");
  }

  @Test
  void aTrustedProxyNamesTheClientItsSchemeAndItsHost() {
    String text =
        """
        listeners:
          - ":8080"
          - {address: ":8081", trusted-proxies: {from: [127.0.0.1]}}
        upstreams: {shop: {origins: ["http://192.0.2.1"]}}
        routes:
          - {host: a.example, upstream: shop, access: {allow: [192.0.2.7]}}
          - {host: b.example, redirect: "https://www.b.example{uri}"}
        tests:
          - {request: http://a.example/, client: 127.0.0.1, fields: {X-Forwarded-For: 192.0.2.7}, expect: {upstream: shop}}
          - {request: http://a.example/, client: 127.0.0.1, fields: {X-Forwarded-For: "192.0.2.7, 192.0.2.8"}, expect: {status: 403}}
          - {request: http://a.example/, client: 192.0.2.8, fields: {X-Forwarded-For: 192.0.2.7}, expect: {status: 403}}
          - {request: http://a.example/p, client: 127.0.0.1, fields: {X-Forwarded-For: 192.0.2.7, X-Forwarded-Proto: https}, expect: {key: "https://a.example/p"}}
          - {request: http://a.example/, client: 127.0.0.1, fields: {X-Forwarded-Host: b.example}, expect: {route: b.example/, status: 308}}
        """;
    assertThat(RequestTests.failed(configuration(text), "f")).isEmpty();
  }

  @Test
  void whatIsExpectedOfEachDecisionIsMet() {
    assertThat(
            failed(
                "{request: http://shop.example/p?utm_x=1&b=2&a=1, response: {fields: {Vary: X-A,"
                    + " Server: x}}, expect: {route: shop.example/, upstream: shop, cache: lookup,"
                    + " key: http://shop.example/p?a=1&b=2, path: /p?a=1&b=2, lifetime: 60s,"
                    + " vary-by: [x-currency, \"language:de,en\", x-a], request-fields: {X-Env:"
                    + " prod, X-Debug: absent, Host: shop.example}, response-fields: {Server:"
                    + " absent, X-Frame-Options: \"DE*\"}}}",
                "{request: http://shop.example/p, fields: {Cookie: a=b; session=1}, expect: {cache:"
                    + " bypass}}",
                "{request: http://shop.example/cart/1, expect: {route: shop.example/, cache:"
                    + " bypass}}",
                "{request: POST http://shop.example/p, expect: {cache: bypass}}",
                "{request: http://shop.example/p, response: {status: 404}, expect: {lifetime: 5s}}",
                "{request: http://shop.example/p, response: {fields: {Cache-Control: no-store}},"
                    + " expect: {lifetime: not-stored}}",
                "{request: http://shop.example/p, response: {fields: {Cache-Control: max-age=7}},"
                    + " expect: {lifetime: 7s}}",
                "{request: http://shop.example/api/u?x, expect: {upstream: api, cache: off, path:"
                    + " /v2/u?x, request-fields: {Host: api.internal}}}",
                "{request: http://shop.example/admin, client: 192.0.2.7, expect: {status: 403}}",
                "{request: http://shop.example/admin, client: 10.0.0.7, expect: {upstream: shop}}",
                "{request: http://shop.example/old/a?b, expect: {upstream: redirect, status: 308,"
                    + " response-fields: {Location: \"https://www.shop.example/old/a?b\"}}}",
                "{request: http://down.example/, expect: {status: 503, upstream: respond}}",
                "{request: http://other.example/, expect: {status: 421}}"))
        .isEmpty();
  }

  @Test
  void whatIsNotMetIsNamedWithItsPlaceAndTheExplanation() {
    assertThat(
            failed(
                "{request: http://shop.example/cart, expect: {upstream: shop, cache: lookup}}",
                "{request: http://shop.example/p, expect: {response-fields: {Server: present}}}"))
        .containsExactly(
            "f:22:73: tests[0].expect.cache: found bypass (path: it is forwarded, and nothing is"
                + " stored), expected lookup",
            "f:23:73: tests[1].expect.response-fields.Server: found absent (route: it takes the"
                + " route shop.example/, to upstream shop), expected \"present\"");
  }

  @Test
  void theOneLineOfTheExplanationThatDecidedIsNamed() {
    assertThat(
            failed(
                "{request: http://shop.example/p, fields: {Cookie: session=1}, expect: {cache:"
                    + " lookup, upstream: api}}",
                "{request: http://shop.example/p, expect: {cache: bypass, lifetime: 1s}}",
                "{request: http://shop.example/p, response: {fields: {Cache-Control: private}},"
                    + " expect: {lifetime: 1s}}",
                "{request: http://shop.example/admin, client: 192.0.2.7, expect: {upstream: shop,"
                    + " status: 200, response-fields: {Server: absent}}}"))
        .map(line -> line.replaceFirst("^.*?expect\\.", ""))
        .containsExactlyInAnyOrder(
            "cache: found bypass (cookie: requests with it are not looked up: the request bypasses"
                + " the cache), expected lookup",
            "upstream: found shop (route: it takes the route shop.example/, to upstream shop),"
                + " expected api",
            "cache: found lookup (route: it takes the route shop.example/, to upstream shop),"
                + " expected bypass",
            "lifetime: found 1m (response: fresh by default-ttl), expected 1s",
            "lifetime: found not-stored (response: the response is for one user (RFC 9111"
                + " §5.2.2.7)), expected 1s",
            "upstream: found nothing (access: the route is not for this client: 403 (Forbidden)),"
                + " expected shop",
            "status: found 403 (access: the route is not for this client: 403 (Forbidden)),"
                + " expected 200",
            "response-fields.Server: found nothing (access: the route is not for this client: 403"
                + " (Forbidden)), expected \"absent\"");
  }

  @Test
  void aTestWithoutARouteIsOneProblem() {
    assertThat(
            failed(
                "{request: http://other.example/, expect: {route: any, upstream: shop, status: 200,"
                    + " request-fields: {A: absent}, response-fields: {B: absent}}}"))
        .containsExactly(
            "f:22:46: tests[0].expect: found no route (no-route: no route is for this host: 421"
                + " (Misdirected Request)), expected a route for http://other.example/");
  }

  @Test
  void theFieldsAreThoseThatTheOriginGets() {
    String text =
        """
        listeners: [{address: "127.0.0.1:0"}]
        upstreams: {s: {origins: ["http://192.0.2.1"]}}
        routes:
          - {path: /app, upstream: s, request-headers: {set: {X-Forwarded-Prefix: /app, X-Forwarded-Proto: https}}}
          - {path: /, upstream: s}
        tests:
          - {request: http://h/app/x, fields: {X-Forwarded-Prefix: /evil}, expect: {request-fields: {X-Forwarded-Prefix: /app, X-Forwarded-Proto: https, X-Forwarded-For: 192.0.2.9}}, client: 192.0.2.9}
          - {request: http://h/x, fields: {X-Real-IP: 192.0.2.8, A: "1"}, expect: {request-fields: {X-Real-IP: absent, X-Forwarded-Proto: http, Via: "1.1 kamille", A: "1"}}}
        """;
    assertThat(RequestTests.failed(configuration(text), "f")).isEmpty();
  }

  @Test
  void viaIsKamilles() {
    assertThat(
            ConfigurationFile.parse(
                    "f", SHOP.replace("X-Env: prod", "Via: x").getBytes(StandardCharsets.UTF_8))
                .toString())
        .contains("request-headers", "found Via, expected other names, because Kamille writes Via");
  }

  /** Who may validate a text need not be somebody who may read files. */
  @Test
  void noExpectationFindsOutWhatIsInAFile(@TempDir Path directory) throws IOException {
    Path token = Files.writeString(directory.resolve("token"), "s3cret");
    String text =
        """
        listeners: [{address: "127.0.0.1:0"}]
        upstreams: {shop: {origins: [{url: "http://192.0.2.1"}]}}
        routes:
          - {host: a.example, upstream: shop, request-headers: {set: {X-A: "${file:%t}"}}, response-headers: {add: {X-B: "b ${file:%t}"}}}
          - {host: b.example, upstream: shop}
          - {host: b.example, upstream: shop, match: {fields: {x: "s*"}}}
        tests:
          - {request: http://a.example/, expect: {request-fields: {X-A: "s*"}, response-fields: {X-B: "b s*"}}}
          - {request: http://a.example/, expect: {request-fields: {X-A: "${file:%t}"}, response-fields: {X-B: "b ${file:%t}"}}}
          - {request: http://b.example/, fields: {x: "${file:%t}"}, expect: {route: b.example/}}
        """
            .replace("%t", token.toString());
    assertThat(RequestTests.failed(configuration(text), "f"))
        .hasSize(2)
        .allSatisfy(problem -> assertThat(problem.path()).startsWith("tests[0].expect."))
        .allSatisfy(problem -> assertThat(problem.found()).doesNotContain("s3cret"));
  }

  @Test
  void aRelativeFileStaysAsItIsWritten(@TempDir Path directory) throws IOException {
    Files.writeString(directory.resolve("token"), "s3cret");
    Path file = directory.resolve("kamille.yaml");
    Files.writeString(
        file,
        """
        listeners: [{address: "127.0.0.1:0"}]
        upstreams: {shop: {origins: ["http://192.0.2.1"]}}
        routes: [{upstream: shop, request-headers: {set: {X-A: "${file:token}"}}}]
        tests: [{request: http://a/, expect: {request-fields: {X-A: "${file:token}"}}}]
        """);
    assertThat(KamilleCommand.execute("check", "--config", file.toString())).isZero();
  }

  @Test
  void aTestThatCannotBeOneIsRefusedWhereItStands() {
    assertThat(
            ConfigurationFile.parse(
                "f",
                (SHOP + "tests:\n" + lines("{request: PURGE http://a/, expect: {status: 1}}", "{}"))
                    .getBytes(StandardCharsets.UTF_8)))
        .asString()
        .contains("tests[0].request", "tests[0].expect.status", "tests[1].request");
  }

  @Test
  void aRouteWithConditionsTakesNoPathThatBypassesTheCacheFromAnother() {
    String routes =
        """
        listeners: [{address: "127.0.0.1:0"}]
        upstreams: {a: {origins: ["http://192.0.2.1"]}}
        routes:
          - {upstream: a, cache: {bypass-paths: [/cart]}}
          - {upstream: a, match: {fields: {x: "1"}}}
          - {upstream: a, match: {fields: {x: "2"}}, cache: {bypass-paths: [/cart/two]}}
          - {upstream: a, path: /cart, match: {methods: [POST]}, cache: off}
        tests:
          - {request: http://h/cart/two, expect: {route: "*/", cache: bypass}}
          - {request: http://h/cart/two, fields: {x: "1"}, expect: {route: "*/ [x=1]", cache: lookup}}
          - {request: http://h/cart/two, fields: {x: "2"}, expect: {route: "*/ [x=2]", cache: bypass}}
          - {request: http://h/cart/one, fields: {x: "2"}, expect: {route: "*/ [x=2]", cache: lookup}}
          - {request: POST http://h/cart/two, fields: {x: "2"}, expect: {route: "*/ [x=2]"}}
          - {request: POST http://h/cart/one, expect: {route: "*/cart [POST]"}}
        """;
    assertThat(RequestTests.failed(configuration(routes), "f")).isEmpty();
  }

  @Test
  void twoRoutesForTheSameRequestsAreRefused() {
    assertThat(
            ConfigurationFile.parse(
                "f",
                """
                listeners: [{address: "127.0.0.1:0"}]
                upstreams: {a: {origins: ["http://192.0.2.1"]}}
                routes:
                  - {upstream: a, match: {fields: {x: "1"}}}
                  - {upstream: a, match: {fields: {X: "1"}}}
                  - {upstream: a, match: {fields: {X: "1"}, methods: [GET]}}
                  - {upstream: a, match: {methods: [get it]}}
                """
                    .getBytes(StandardCharsets.UTF_8)))
        .isInstanceOfSatisfying(
            Refused.class,
            refused ->
                assertThat(refused.problems())
                    .extracting(Problem::toString)
                    .containsExactly(
                        "f:5:5: routes[1]: found host, path and match of routes[0] in line 4,"
                            + " expected a route of its own",
                        "f:7:37: routes[3].match.methods[0]: found \"get it\", expected a method"
                            + " such as POST"));
  }

  /** A request is compared with each, and a hostile text may have 40,000. */
  @Test
  void routesForOneHostAndPathHaveALimit() {
    String routes =
        IntStream.range(0, 3_000)
            .mapToObj(i -> "  - {upstream: a, match: {fields: {x: \"" + i + "\"}}}\n")
            .collect(Collectors.joining());
    String text =
        """
        listeners: [{address: "127.0.0.1:0"}]
        upstreams: {a: {origins: ["http://192.0.2.1"]}}
        routes:
        """;
    assertThat(ConfigurationFile.parse("f", (text + routes).getBytes(StandardCharsets.UTF_8)))
        .isInstanceOfSatisfying(
            Refused.class,
            refused ->
                assertThat(refused.problems().getFirst())
                    .asString()
                    .isEqualTo(
                        "f:1028:5: routes[1024]: found one more, expected at most 1024 routes for"
                            + " one host and path"));
    String equal = "  - {upstream: a}\n".repeat(3_000);
    assertThat(ConfigurationFile.parse("f", (text + equal).getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(Refused.class);
  }

  @Test
  void twoHundredTestsTakeLessThanTwoHundredMilliseconds() {
    String[] tests =
        IntStream.range(0, 200)
            .mapToObj(
                i ->
                    "{request: http://shop.example/p"
                        + i
                        + "?a=1, expect: {route: shop.example/, cache: lookup, lifetime: 60s}}")
            .toArray(String[]::new);
    Configuration configuration = configuration(SHOP + "tests:\n" + lines(tests));
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long start = threads.getCurrentThreadCpuTime();
    assertThat(RequestTests.failed(configuration, "f")).isEmpty();
    assertThat(threads.getCurrentThreadCpuTime() - start).isLessThan(200_000_000);
  }
}
