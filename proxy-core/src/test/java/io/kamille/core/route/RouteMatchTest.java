package io.kamille.core.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RouteMatchTest {

  private static Map<String, ValuePattern> named(String name, String pattern) {
    return Map.of(name, new ValuePattern(pattern));
  }

  private static RouteMatch field(String name, String pattern) {
    return new RouteMatch(List.of(), named(name, pattern), Map.of(), Map.of());
  }

  private static RouteMatch cookie(String name, String pattern) {
    return new RouteMatch(List.of(), Map.of(), named(name, pattern), Map.of());
  }

  private static RouteMatch query(String name, String pattern) {
    return new RouteMatch(List.of(), Map.of(), Map.of(), named(name, pattern));
  }

  private static RequestHead get(String uri, String... fields) {
    return RequestHead.of("GET", "http://a.org" + uri, fields);
  }

  @Test
  void methodsAreComparedAsTheyAre() {
    RouteMatch match = new RouteMatch(List.of("POST", "BREW"), Map.of(), Map.of(), Map.of());
    assertThat(match.takes(RequestHead.of("POST", "http://a.org/"))).isTrue();
    assertThat(match.takes(RequestHead.of("BREW", "http://a.org/"))).isTrue();
    assertThat(match.takes(RequestHead.of("brew", "http://a.org/"))).isFalse();
    assertThat(match.takes(get("/"))).isFalse();
  }

  @Test
  void aFieldIsFoundInAnyCaseAndOnAnyLine() {
    RequestHead two = get("/", "x-Beta", "0", "X-BETA", "1");
    assertThat(field("X-Beta", "1").takes(two)).isTrue();
    assertThat(field("X-Beta", "2").takes(two)).isFalse();
    assertThat(field("X-Beta", "present").takes(two)).isTrue();
    assertThat(field("X-Beta", "absent").takes(two)).isFalse();
    assertThat(field("X-Other", "absent").takes(two)).isTrue();
    assertThat(field("X-Other", "present").takes(two)).isFalse();
    assertThat(field("Accept", "text/*").takes(get("/", "Accept", "text/html"))).isTrue();
    assertThat(field("Accept", "text/*").takes(get("/", "Accept", "tex"))).isFalse();
  }

  @Test
  void cookiesAreFoundByTheirWholeNames() {
    RequestHead request =
        get("/", "Cookie", "xbeta=1; =2;beta = 3; beta=on ; c", "Cookie", "last=z=1");
    assertThat(cookie("beta", "on").takes(request)).isTrue();
    assertThat(cookie("last", "z=1").takes(request)).isTrue();
    assertThat(cookie("xbeta", "1").takes(request)).isTrue();
    assertThat(cookie("bet", "present").takes(request)).isFalse();
    assertThat(cookie("c", "present").takes(request)).isFalse();
    assertThat(cookie("bet", "absent").takes(request)).isTrue();
    assertThat(cookie("beta", "absent").takes(request)).isFalse();
    assertThat(cookie("beta", "absent").takes(get("/"))).isTrue();
  }

  @Test
  void parametersAreComparedDecoded() {
    assertThat(query("b", "x y").takes(get("/?a=1&%62=x%20y"))).isTrue();
    assertThat(query("b", "x y").takes(get("/?b=x+y"))).isTrue();
    assertThat(query("b", "x*").takes(get("/?b=1&b=%78z"))).isTrue();
    assertThat(query("b", "x*").takes(get("/?b="))).isFalse();
    assertThat(query("b", "present").takes(get("/?b"))).isTrue();
    assertThat(query("b", "absent").takes(get("/?%62"))).isFalse();
    assertThat(query("b", "absent").takes(get("/?bb=1&&"))).isTrue();
    assertThat(query("b", "").takes(get("/?b"))).isTrue();
    assertThat(query("b", "%").takes(get("/?b=%&c=%4"))).isTrue();
    assertThat(query("b", "present").takes(get("/"))).isFalse();
  }

  @Test
  void theRouteWithMostConditionsThatAreMetWinsInAnyOrder() {
    RouteMatch beta = field("x-beta", "1");
    RouteMatch both = new RouteMatch(List.of("GET"), named("x-beta", "1"), Map.of(), Map.of());
    List<Route> routes =
        new ArrayList<>(
            List.of(
                new Route("plain", "a.org", "/", RouteMatch.NONE, exchange -> {}),
                new Route("beta", "a.org", "/", beta, exchange -> {}),
                new Route("both", "a.org", "/", both, exchange -> {}),
                new Route("longer", "a.org", "/p", RouteMatch.NONE, exchange -> {}),
                new Route("any", "*", "/only", beta, exchange -> {})));
    for (RouteTable table : List.of(RouteTable.of(routes), RouteTable.of(routes.reversed()))) {
      assertThat(name(table, get("/", "X-Beta", "1"))).isEqualTo("both");
      assertThat(name(table, RequestHead.of("HEAD", "http://a.org/", "x-beta", "1")))
          .isEqualTo("beta");
      assertThat(name(table, get("/"))).isEqualTo("plain");
      assertThat(name(table, get("/p", "X-Beta", "1"))).isEqualTo("longer");
      assertThat(name(table, RequestHead.of("GET", "http://b.org/only"))).isNull();
      assertThat(table.all(get("/", "X-Beta", "1")))
          .extracting(Route::name)
          .containsExactly("both", "beta", "plain");
    }
    assertThatThrownBy(
            () ->
                RouteTable.of(
                    List.of(
                        new Route("b", "a.org", "/", beta, exchange -> {}),
                        new Route("c", "a.org", "/", field("X-Beta", "1"), exchange -> {}))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static @Nullable String name(RouteTable table, RequestHead request) {
    Route route = table.find(request);
    return route == null ? null : route.name();
  }

  @ParameterizedTest
  @CsvSource({"1, true", "1024, true", "1025, false", "1000000, false"})
  void aPatternHasAtMost1024Characters(int length, boolean isOne) {
    assertThat(ValuePattern.isValue("x".repeat(length))).isEqualTo(isOne);
  }
}
