package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rule for paths, as docs/reference/framing.md has it: routed by the normal form, forwarded and
 * stored as the client wrote them.
 */
class PathRuleIT {

  private static final String ROUTES =
      "routes: [{upstream: site, host-rewrite: rest.test},"
          + " {upstream: site, path: /admin, host-rewrite: admin.test},"
          + " {upstream: site, path: /public, host-rewrite: public.test}]";

  @RegisterExtension private final Journey journey = new Journey();

  @ParameterizedTest
  @CsvSource({
    "/admin, admin",
    "/%61dmin, admin",
    "//admin, admin",
    "/./admin, admin",
    "/public/../admin, admin",
    "/public/%2e%2E/admin, admin",
    "/public/.%2e//admin/x, admin",
    "/../../admin, admin",
    "/public/..%2fadmin, public",
    "/public/..%5cadmin, public",
    "/public/..;/admin, public",
    "/public/%00/../../admin, admin",
    "/public%00/../admin, admin",
    "/Admin, rest",
    "/admin%2Fx, rest",
    "/admin%00, rest",
    "/admin;x, rest",
    "/%c0%ae%c0%ae/admin, rest",
    "/%252e%252e/admin, rest",
    "/%ff/admin, rest",
    "/%zz/admin, rest",
    "/%, rest",
  })
  void aPathIsRoutedByItsNormalFormAndForwardedAsItCame(String target, String route) {
    journey.with(ROUTES).origin().on(target, ok("x"));
    assertThat(journey.get(target).content()).isEqualTo("x");
    assertThat(journey.origin().request(target).values("Host")).containsExactly(route + ".test");
  }

  /** Two spellings of one path share a route and no stored response. */
  @Test
  void everySpellingIsStoredForItself() {
    List<String> spellings =
        List.of(
            "/p/a", "/p//a", "/p/%61", "/p/./a", "/p/b/../a", "/p%2Fa", "/p/a%00", "/p/a?", "/p/A");
    for (String spelling : spellings) {
      journey.origin().on(spelling, ok(spelling, "Cache-Control: max-age=60"));
    }
    for (int round = 0; round < 2; round++) {
      for (String spelling : spellings) {
        assertThat(journey.get(spelling).content()).isEqualTo(spelling);
      }
    }
    assertThat(journey.origin().requests()).hasSameSizeAs(spellings);
  }

  /** RFC 9112 §3.2, RFC 3986 §2: a target is visible ASCII and has no fragment. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/\0",
        "/a\0b",
        "/\u00e4",
        "/\u00c3\u00a4",
        "/\u00ff",
        "/\u00c0\u00ae",
        "/a\tb",
        "/a b",
        "/a\u007f",
        "/a\u0001",
        "/a#b",
        "a",
        "\\a",
        ""
      })
  void aTargetWithOtherOctetsIsRefused(String target) {
    try (TestClient client = journey.client()) {
      client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(400);
      assertThat(client.isAtEnd()).isTrue();
    }
    assertThat(journey.origin().requests()).isEmpty();
  }
}
