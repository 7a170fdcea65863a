package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigNode.Entry;
import io.kamille.core.setting.ConfigNode.Mapping;
import io.kamille.core.setting.ConfigNode.Scalar;
import io.kamille.core.setting.ConfigNode.Sequence;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problems;
import io.kamille.launcher.appliance.PinnedTests.Seen;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading.Accepted;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pinned tests are few, pass, and fail when a setting changes. */
class PinnedTestsTest {

  /** A shop as operators have one, with settings that no test can see, too. */
  private static final String SHOP =
      """
      listeners: [{address: "127.0.0.1:0"}]
      upstreams:
        shop: {origins: [{url: "http://192.0.2.1"}]}
        api: {origins: [{url: "http://192.0.2.3"}]}
        blog: {origins: [{url: "http://192.0.2.4"}]}
      routes:
        - host: shop.example
          upstream: shop
          request-headers: {set: {X-Env: prod, X-Site: shop}, remove: [X-Debug, X-Real-IP]}
          response-headers: {remove: [Server, X-Powered-By], set: {X-Frame-Options: DENY}, add: {X-Served: kamille}}
          cache:
            default-ttl: 60s
            stale-while-revalidate: 30s
            status-ttl: {404: 5s, 5xx: 1s}
            bypass-cookies: [session, wp_*]
            bypass-paths: [/cart, /checkout]
            vary-by: ["cookie:Currency", "language:de,en"]
            query: {ignore: [utm_*, fbclid], sort: on}
        - host: shop.example
          path: /static
          upstream: shop
          cache: {ttl: 1d, query: {keep: [v]}, compress: on}
        - {host: shop.example, path: /api, upstream: api, path-rewrite: /v2, host-rewrite: api.internal, cache: off, request-headers: {set: {X-Key: "4711"}}}
        - {host: shop.example, path: /admin, upstream: shop, access: {allow: ["10.0.0.0/8", "192.0.2.7"], deny: ["10.1.0.0/16"]}, cache: off}
        - {host: shop.example, path: /old, redirect: {to: "https://www.shop.example{uri}", status: 301}}
        - {host: "*.shop.example", redirect: "https://shop.example{uri}"}
        - {host: blog.example, upstream: blog, cache: {default-ttl: 5m, bypass-cookies: [logged_in_*], bypass-paths: [/wp-admin]}, rate-limit: {rate: 10/s, counts: forwarded}}
        - {host: blog.example, path: /feed, upstream: blog, cache: {ttl: 10m, query: {keep: []}}}
        - {host: media.example, upstream: blog, path: /img, path-rewrite: /images, cache: {ttl: 1h, max-object-size: 1MiB, query: {keep: [w, h]}, vary-by: [Accept]}, response-headers: {set: {X-Media: "1"}}}
        - {host: search.example, upstream: api, cache: {default-ttl: 10s, stale-if-error: 1h, bypass-cookies: [debug], query: {ignore: [sid]}}, upgrades: []}
        - {host: down.example, respond: {status: 503, body: later, type: text/html}, response-headers: {set: {Retry-After: "600"}}}
      """;

  private static final List<Seen> TRAFFIC =
      Stream.of(
              "GET http://shop.example/ 200",
              "GET http://shop.example/p/7?utm_source=x&color=red 200",
              "GET http://shop.example/p/8?color=blue 200",
              "GET http://shop.example/cart 200",
              "POST http://shop.example/cart/add 303",
              "GET http://shop.example/checkout 200",
              "GET http://shop.example/nothing 404",
              "GET http://shop.example/static/app.js?v=3 200",
              "GET http://shop.example/api/users?id=1 200",
              "POST http://shop.example/api/users 201",
              "GET http://shop.example/admin/ 403",
              "GET http://shop.example/old/page 301",
              "GET http://www.shop.example/x?y 308",
              "GET http://blog.example/2026/11 200",
              "GET http://blog.example/wp-admin/x 200",
              "GET http://blog.example/feed?x=1 200",
              "GET http://media.example/img/a.png?w=3&h=4&x=1 200",
              "GET http://search.example/?q=shoes&sid=9 200",
              "GET http://down.example/ 503",
              "GET http://nobody.example/ 421")
          .map(line -> line.split(" (?=[0-9]*$)"))
          .map(parts -> new Seen(parts[0], Integer.parseInt(parts[1])))
          .toList();

  private static @Nullable Configuration read(String text) {
    return ConfigurationFile.parse("f", text.getBytes(StandardCharsets.UTF_8))
            instanceof Accepted(Configuration configuration)
        ? configuration
        : null;
  }

  private static String pinned(boolean isReversed) {
    List<Seen> traffic = new ArrayList<>();
    IntStream.range(0, 20)
        .forEach(any -> traffic.addAll(isReversed ? TRAFFIC.reversed() : TRAFFIC));
    IntStream.range(0, 500)
        .forEach(i -> traffic.add(new Seen("GET http://shop.example/p/" + i, 200)));
    return PinnedTests.write(Objects.requireNonNull(read(SHOP)), traffic);
  }

  @Test
  void theyAreFewAndPass() {
    String tests = pinned(false);
    assertThat(tests.lines().count()).isBetween(30L, 100L);
    Configuration configuration = Objects.requireNonNull(read(SHOP + tests), tests);
    assertThat(RequestTests.failed(configuration, "f")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofAHundredChangedSettingsNinetyAreCaught(boolean isReversed) {
    Configuration tests = Objects.requireNonNull(read(SHOP + pinned(isReversed)));
    List<String> missed = new ArrayList<>();
    int count = 0;
    for (String changed : changes()) {
      Configuration configuration = read(changed);
      if (configuration != null) {
        count++;
        if (RequestTests.failed(tests, new RequestTests(configuration), "f").isEmpty()) {
          missed.add(difference(changed));
        }
      }
    }
    assertThat(count).isGreaterThanOrEqualTo(100);
    assertThat(1 - missed.size() / (double) count)
        .as("of " + count + " changes these are missed: " + missed)
        .isGreaterThanOrEqualTo(0.9);
  }

  /** The configuration with one value, one key or one list item of a route changed, in turn. */
  private static List<String> changes() {
    ConfigNode root =
        Objects.requireNonNull(
            ConfigTree.parse(SHOP.getBytes(StandardCharsets.UTF_8), new Problems("f")));
    List<String> changes = new ArrayList<>();
    for (Entry entry : ((Mapping) root).entries()) {
      if (entry.key().equals("routes")) {
        change(entry.value(), changes);
      }
    }
    return changes;
  }

  private static void change(ConfigNode node, List<String> changes) {
    switch (node) {
      case Mapping mapping -> mapping.entries().forEach(entry -> change(entry.value(), changes));
      case Sequence sequence -> sequence.items().forEach(item -> change(item, changes));
      case Scalar scalar ->
          others(scalar.text()).stream()
              .map(other -> replaced(scalar, other))
              .filter(changed -> !changed.equals(SHOP))
              .forEach(changes::add);
    }
  }

  private static List<String> others(String text) {
    if (text.equals("on") || text.equals("off")) {
      return List.of(text.equals("on") ? "off" : "on");
    }
    if (List.of("shop", "api", "blog").contains(text)) {
      return List.of(text.equals("shop") ? "blog" : "shop");
    }
    if (text.matches("[1-9][0-9]*")) {
      return List.of(String.valueOf(Integer.parseInt(text) + (text.equals("308") ? -1 : 1)));
    }
    if (text.matches("[1-9][0-9]*[smhd].*|[0-9.]+/[0-9]+")) {
      return text.contains(".")
          ? List.of(text.replace("/8", "/7").replace("/16", "/17"), text.replace("/8", "/9"))
          : List.of("2" + text);
    }
    return text.endsWith("*")
        ? List.of("x" + text, text.replace("*", "z*"))
        : List.of(text + "2", "q" + text.substring(1));
  }

  private static String replaced(Scalar scalar, String other) {
    List<String> lines = new ArrayList<>(SHOP.lines().toList());
    int at = scalar.position().line() - 1;
    String line = lines.get(at);
    int column = scalar.position().column() - 1 + (scalar.isQuoted() ? 1 : 0);
    lines.set(
        at, line.substring(0, column) + other + line.substring(column + scalar.text().length()));
    return String.join("\n", lines) + "\n";
  }

  private static String difference(String changed) {
    List<String> before = SHOP.lines().toList();
    List<String> after = changed.lines().toList();
    return IntStream.range(0, before.size())
        .filter(i -> !before.get(i).equals(after.get(i)))
        .mapToObj(i -> after.get(i).strip())
        .findFirst()
        .orElse("nothing");
  }
}
