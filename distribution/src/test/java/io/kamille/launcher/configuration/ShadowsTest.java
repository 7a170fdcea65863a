package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.kamille.core.setting.Sections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ShadowsTest {

  private static final String LEAST =
      """
      listeners: [':0']
      upstreams: {web: {origins: ['http://a']}, other: {origins: ['http://b']}}
      routes:
      """;

  @Test
  void routesThatDoNotMeetShadowNothing() {
    assertThat(
            notes(
                "{upstream: web, cache: {bypass-paths: [/cart, /api]}}",
                "{path: /apis, upstream: web}",
                "{path: /img/, upstream: web}",
                "{host: a.org, path: /y, upstream: web}",
                "{host: '*.a.org', path: /x, upstream: web}",
                "{host: b.org, path: /api, upstream: web, split: {upstream: other, share: 0.9},"
                    + " access: {allow: [10.0.0.0/8], deny: [10.0.0.0/9]},"
                    + " request-headers: {remove: [A], set: {B: b}, add: {A: a}}}"))
        .isEmpty();
  }

  @Test
  void aFieldThatKamilleWritesIsNotRemoved() {
    assertThat(
            notes("{upstream: web, request-headers: {remove: [x-forwarded-for, Forwarded, X-A]}}"))
        .singleElement()
        .asString()
        .contains("request-headers.remove", "x-forwarded-for", "forwarding.x-forwarded writes it");
  }

  @Test
  void aMoreSpecificHostGoesBeforeALongerPath() {
    assertThat(
            notes(
                "{host: a.org, upstream: web}",
                "{path: /.well-known, upstream: web}",
                "{host: '*.org', path: /.well-known/acme, upstream: web}",
                "{host: b.org, upstream: web}",
                "{host: b.org, path: /.well-known, upstream: web}",
                "{host: c.com, path: /x, upstream: web}"))
        .containsExactly(
            "k:5:3: note: routes[1]: /.well-known gets no requests of hosts whose own routes go"
                + " first: a.org (routes[0])",
            "k:6:3: note: routes[2]: /.well-known/acme gets no requests of hosts whose own routes"
                + " go first: a.org (routes[0]), b.org (routes[4])");
  }

  @Test
  void aWildcardGoesBeforeAShorterOne() {
    assertThat(
            notes(
                "{host: '*.a.org', upstream: web}",
                "{host: '*.org', path: /x, upstream: web}",
                "{host: '*.b.com', path: /x, upstream: web}"))
        .containsExactly(
            "k:5:3: note: routes[1]: /x gets no requests of hosts whose own routes go first:"
                + " *.a.org (routes[0])");
  }

  /** To compare each with each would take a minute. */
  @Test
  void manyWildcardsTakeNoTimeOfEachOther() {
    var some = accepted(LEAST + "- {host: '*.com', path: /x, upstream: web}");
    RouteSettings one = some.routes().getFirst();
    List<RouteSettings> routes = new ArrayList<>(List.of(one));
    IntStream.range(0, 30_000).forEach(i -> routes.add(at("*.h" + i + ".com", one)));
    assertTimeoutPreemptively(
        Duration.ofSeconds(10),
        () -> {
          var shadows = new Shadows("k", routes, some.forwarding());
          var at = some.values().all(Configuration.ROUTES).getFirst();
          routes.forEach(route -> shadows.check(at, route));
          assertThat(shadows.notes())
              .containsExactly(
                  "k:4:3: note: routes[0]: /x gets no requests of hosts whose own routes go first:"
                      + " *.h0.com (routes[1]), *.h1.com (routes[2]), *.h2.com (routes[3]) and"
                      + " 29997 more");
        });
  }

  private static RouteSettings at(String host, RouteSettings other) {
    return Sections.copy(other).with("host", host).with("path", "/").record();
  }

  @Test
  void aMethodInLowerCaseIsAnotherOne() {
    assertThat(notes("{upstream: web, match: {methods: [get, HEAD]}}"))
        .containsExactly("k:4:3: note: routes[0].match.methods: get does not match GET");
  }

  @Test
  void whatOtherServersWouldExpandIsSentAsItStands() {
    assertThat(
            notes(
                "{redirect: 'https://www.x.test$request_uri'}",
                "{path: /a, upstream: web, request-headers: {set: {X-Key: '${API_TOKEN}'}}}",
                "{path: /b, upstream: web, response-headers: {add: {X-A: 'a %{VAR}'}}}",
                "{path: /c, redirect: 'https://x.test{uri}?price=$5'}"))
        .containsExactly(
            "k:4:3: note: routes[0].redirect: $request_uri is sent as it stands, because it is no"
                + " variable here",
            "k:5:3: note: routes[1].request-headers.set.X-Key: ${API_TOKEN} is sent as it stands,"
                + " because it is no variable here",
            "k:6:3: note: routes[2].response-headers.add.X-A: %{VAR} is sent as it stands, because"
                + " it is no variable here");
  }

  @Test
  void aSecretInTheTextIsNoted() {
    assertThat(
            notes(
                "{upstream: web, request-headers: {set: {authorization: Bearer s3cret}}}",
                "{path: /a, upstream: web, request-headers: {set: {X-A: 'Bearer x'}}}"))
        .singleElement()
        .asString()
        .isEqualTo(
            "k:4:3: note: routes[0].request-headers.authorization: each reader of the file"
                + " and its versions sees this value; write ${file:PATH}");
  }

  @Test
  void ofManyHostsThreeAreNamed() {
    assertThat(
            notes(
                "{path: /x, upstream: web}",
                "{host: a, upstream: web}",
                "{host: b, upstream: web}",
                "{host: c, upstream: web}",
                "{host: d, upstream: web}"))
        .singleElement()
        .asString()
        .endsWith(": a (routes[1]), b (routes[2]), c (routes[3]) and 1 more");
  }

  @Test
  void whatLiesBelowMayBeAnotherRoutes() {
    assertThat(notes("{path: /a, upstream: web}", "{path: /a/, upstream: other}"))
        .containsExactly(
            "k:4:3: note: routes[0]: only /a itself gets here, because routes[1] has /a/");
  }

  @Test
  void aPathOfAnotherRouteBypassesNothing() {
    assertThat(
            notes(
                "{upstream: web, cache: {bypass-paths: [/a, /b, /a/c]}}",
                "{path: /a, upstream: other}",
                "{host: h, path: /b, upstream: other}"))
        .containsExactly(
            "k:4:3: note: routes[0].cache.bypass-paths: /a has no effect, because it belongs to"
                + " routes[1]",
            "k:4:3: note: routes[0].cache.bypass-paths: /a/c has no effect, because it belongs to"
                + " routes[1]");
  }

  @Test
  void aRangeThatIsAllowedAndDeniedIsDenied() {
    String access = "access: {allow: [10.0.0.0/8, '::1'], deny: [10.0.0.0/8, 10.0.0.0/9]}";
    assertThat(notes("{upstream: web, " + access + "}"))
        .containsExactly(
            "k:4:3: note: routes[0].access.allow: 10.0.0.0/8 has no effect, because access.deny has"
                + " it, too");
    assertThat(
            Shadows.of(
                "k",
                accepted(
                    LEAST.replace("[':0']", "[{address: ':0', " + access + "}]")
                        + "- {upstream: web}")))
        .containsExactly(
            "k:1:13: note: listeners[0].access.allow: 10.0.0.0/8 has no effect, because access.deny"
                + " has it, too");
  }

  @Test
  void aSplitMayLeaveNothing() {
    assertThat(notes("{upstream: web, split: {upstream: other, share: 1}}"))
        .containsExactly(
            "k:4:3: note: routes[0].upstream: web has no effect, because split sends all to other");
  }

  @Test
  void ofAFieldThatIsSetTwiceTheLaterCounts() {
    assertThat(
            notes("{upstream: web, response-headers: {remove: [x-a, B], set: {X-A: 1, x-a: 2}}}"))
        .containsExactly(
            "k:4:3: note: routes[0].response-headers.set: X-A has no effect, because the field is"
                + " set again",
            "k:4:3: note: routes[0].response-headers.remove: x-a has no effect, because the field"
                + " is set");
  }

  private static List<String> notes(String... routes) {
    return Shadows.of("k", accepted(LEAST + "- " + String.join("\n- ", routes)));
  }

  private static Configuration accepted(String text) {
    var reading = ConfigurationFile.parse("kamille.yaml", text.getBytes(UTF_8));
    assertThat(reading).isInstanceOf(ConfigurationReading.Accepted.class);
    return ((ConfigurationReading.Accepted) reading).configuration();
  }
}
