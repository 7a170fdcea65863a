package io.kamille.core.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class RouteTableTest {

  @Test
  void anExactHostBeatsAWildcardAndAWildcardBeatsAnyHost() {
    RouteTable table = table("*/", "*.example.org/", "www.example.org/");
    assertThat(found(table, "http://www.example.org/")).isEqualTo("www.example.org/");
    assertThat(found(table, "http://img.example.org/")).isEqualTo("*.example.org/");
    assertThat(found(table, "http://example.com/")).isEqualTo("*/");
  }

  @Test
  void aLongerWildcardBeatsAShorterOne() {
    RouteTable table = table("*.org/", "*.example.org/");
    assertThat(found(table, "http://a.b.example.org/")).isEqualTo("*.example.org/");
    assertThat(found(table, "http://a.org/")).isEqualTo("*.org/");
  }

  @Test
  void aWildcardDoesNotMatchItsOwnDomain() {
    RouteTable table = table("*.example.org/");
    assertThat(found(table, "http://example.org/")).isEqualTo("none");
    assertThat(found(table, "http://badexample.org/")).isEqualTo("none");
  }

  @Test
  void theLongestPathPrefixWins() {
    RouteTable table = table("*/", "*/api", "*/api/v2");
    assertThat(found(table, "http://h/api/v2/users")).isEqualTo("*/api/v2");
    assertThat(found(table, "http://h/api/v1")).isEqualTo("*/api");
    assertThat(found(table, "http://h/")).isEqualTo("*/");
    assertThat(found(table, "http://h/?/api")).isEqualTo("*/");
  }

  @Test
  void aPathPrefixMatchesWholeSegmentsOnly() {
    RouteTable table = table("*/", "*/api", "*/files/");
    assertThat(found(table, "http://h/api")).isEqualTo("*/api");
    assertThat(found(table, "http://h/api?q")).isEqualTo("*/api");
    assertThat(found(table, "http://h/apis")).isEqualTo("*/");
    assertThat(found(table, "http://h/files/a")).isEqualTo("*/files/");
    assertThat(found(table, "http://h/files")).isEqualTo("*/");
  }

  @Test
  void hostCasePortAndFinalDotDoNotMatter() {
    RouteTable table = table("Example.org/");
    assertThat(found(table, "http://EXAMPLE.ORG:8080/")).isEqualTo("example.org/");
    assertThat(found(table, "http://example.org./")).isEqualTo("example.org/");
  }

  @Test
  void anIpv6HostKeepsItsBrackets() {
    RouteTable table = table("[::1]/", "*/");
    assertThat(found(table, "http://[::1]:8080/")).isEqualTo("[::1]/");
    assertThat(found(table, "http://[::1]/")).isEqualTo("[::1]/");
  }

  @Test
  void withoutAPrefixForThePathTheNextHostIsAsked() {
    RouteTable table = table("a.org/app", "*.org/shop", "*/.well-known");
    assertThat(found(table, "http://a.org/shop")).isEqualTo("*.org/shop");
    assertThat(found(table, "http://a.org/.well-known/x")).isEqualTo("*/.well-known");
    assertThat(found(table, "http://a.org/other")).isEqualTo("none");
  }

  @Test
  void aPathInDisguiseMeetsTheRouteOfWhatItMeans() {
    RouteTable table = table("*/", "*/admin", "*/public");
    assertThat(found(table, "http://h/public/../admin/x")).isEqualTo("*/admin");
    assertThat(found(table, "http://h/public/%2e%2E/admin")).isEqualTo("*/admin");
    assertThat(found(table, "http://h/%61dmin")).isEqualTo("*/admin");
    assertThat(found(table, "http://h/./admin")).isEqualTo("*/admin");
    assertThat(found(table, "http://h/../../admin/.")).isEqualTo("*/admin");
    assertThat(found(table, "http://h/public/a%2Fb/..%zz")).isEqualTo("*/public");
    assertThat(found(table, "http://h/public/..")).isEqualTo("*/");
  }

  @Test
  void emptySegmentsAreMergedBeforeDotSegmentsAreRemoved() {
    RouteTable table = table("*/", "*/admin", "*/admin/x", "*/files/");
    assertThat(found(table, "http://h//admin")).isEqualTo("*/admin");
    assertThat(found(table, "http://h///admin//y")).isEqualTo("*/admin");
    assertThat(found(table, "http://h/admin//x")).isEqualTo("*/admin/x");
    assertThat(found(table, "http://h/public//../admin")).isEqualTo("*/admin");
    assertThat(found(table, "http://h//..//admin")).isEqualTo("*/admin");
    assertThat(found(table, "http://h/.//admin")).isEqualTo("*/admin");
    assertThat(found(table, "http://h/admin//..")).isEqualTo("*/");
    assertThat(found(table, "http://h//files//")).isEqualTo("*/files/");
    assertThat(found(table, "http://h//files")).isEqualTo("*/");
    assertThat(found(table, "http://h//")).isEqualTo("*/");
  }

  @Test
  void anEncodedSignMeetsTheRouteOfTheSign() {
    RouteTable table = table("*/", "*/a+b");
    assertThat(found(table, "http://h/a%2Bb/c")).isEqualTo("*/a+b");
    assertThat(found(table, "http://h/a%252Bb/c")).isEqualTo("*/");
  }

  @Test
  void anEncodedSlashIsNoSegment() {
    RouteTable table = table("*/", "*/admin");
    assertThat(found(table, "http://h/%2Fadmin")).isEqualTo("*/");
    assertThat(found(table, "http://h/x%2F..%2Fadmin")).isEqualTo("*/");
  }

  @Test
  void aPrefixThatNoRequestCouldMatchIsRefused() {
    for (String path : new String[] {"/a//b", "/a/../b", "/a/.", "/%61", "//"}) {
      assertThatThrownBy(() -> new Route("r", "*", path, RouteMatch.NONE, exchange -> {}))
          .as(path)
          .hasMessageContaining("pathPrefix: " + path);
    }
  }

  @Test
  void everyHostOfALargeTableIsFound() {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      all.add("host-" + i + ".example.org/");
    }
    RouteTable table = table(all.toArray(String[]::new));
    for (String host : all) {
      assertThat(found(table, "http://" + host)).isEqualTo(host);
      assertThat(found(table, "http://" + host.toUpperCase(Locale.ROOT))).isEqualTo(host);
    }
    assertThat(found(table, "http://host-500.example.org/")).isEqualTo("none");
  }

  @Test
  void twoRoutesForTheSameAreRefused() {
    assertThatThrownBy(() -> table("a.org/x", "A.org/x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a.org/x");
  }

  @Test
  void aHostWithPortOrAPathWithoutSlashIsRefused() {
    assertThatThrownBy(() -> new Route("r", "a.org:80", "/", RouteMatch.NONE, exchange -> {}))
        .hasMessageContaining("host: a.org:80");
    assertThatThrownBy(() -> new Route("r", "a.org", "x", RouteMatch.NONE, exchange -> {}))
        .hasMessageContaining("pathPrefix: x");
  }

  /** Routes from host and path in one text, which is their name too. */
  private static RouteTable table(String... hostsAndPaths) {
    List<Route> routes = new ArrayList<>();
    for (String text : hostsAndPaths) {
      int slash = text.indexOf('/');
      String host = text.substring(0, slash);
      String name = host.toLowerCase(Locale.ROOT) + text.substring(slash);
      routes.add(new Route(name, host, text.substring(slash), RouteMatch.NONE, exchange -> {}));
    }
    return RouteTable.of(routes);
  }

  private static String found(RouteTable table, String uri) {
    Route route = table.find(RequestHead.of("GET", uri));
    return route == null ? "none" : route.name();
  }
}
