package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** There is one host, and it is a host (RFC 9112 §3.2, RFC 9110 §7.2). */
class HostAbuseIT {

  @RegisterExtension private final Journey journey = new Journey();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Host: a~Host: a~",
        "Host: a~Host: b~",
        "Host: a~hOsT: b~",
        "Host:~",
        "Host: a, b~",
        "Host: a,b~",
        "Host: a,~",
        "Host: a b~",
        "Host: a/b~",
        "Host: a?b~",
        "Host: a#b~",
        "Host: a\\b~",
        "Host: u@a~",
        "Host: u:p@a~",
        "Host: a:b~",
        "Host: a:-1~",
        "Host: a:65536~",
        "Host: a:80:80~",
        "Host: :80~",
        "Host: [::1~",
        "Host: [::1]a~",
        "Host: [1.2.3.4]~",
        "Host: [v1.x]~",
        "Host: <script>~",
        "Host: \"a\"~",
        "Host: a%zz~",
        "Host: \u00e4~",
        "Host: a\0b~",
        "Host: a\tb~",
        "Host : a~",
        " Host: a~",
        "X: y~ Host: a~",
      })
  void aHostThatIsNoneOrSeveralIsRefused(String lines) {
    refused("GET /a HTTP/1.1\r\n" + lines.replace("~", "\r\n") + "\r\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://",
        "http:///a",
        "http://:80/a",
        "http://u@b/a",
        "http://b c/a",
        "http://b:99999/a",
        "http:/b/a",
        "ftp://b/a",
        "file:///etc/passwd",
        "b/a",
        "?a",
        "http://b#c",
      })
  void anAbsoluteTargetWithoutOneHostIsRefused(String target) {
    refused("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
  }

  /** What begins with two slashes is a path and names no host (RFC 9112 §3.2.1). */
  @Test
  void aPathIsNoAuthority() {
    journey.origin().on("//evil.test/a", ok("x"));
    assertThat(journey.get("//evil.test/a").content()).isEqualTo("x");
    assertThat(journey.origin().request("//evil.test/a").values("Host")).containsExactly("a");
  }

  /** RFC 9112 §3.2.2: the target wins, and what the origin hears is one host. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/a               | evil.test:08080 | evil.test:8080",
        "http://B.test/a  | evil.test       | b.test",
        "http://b.test:80/a | evil.test     | b.test",
        "http://[::1]:81/a | evil.test      | [::1]:81",
      })
  void theTargetOverrulesTheField(String target, String host, String told) {
    journey.origin().on("/a", ok("x", "Cache-Control: no-store"));
    Answer answer = journey.say("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    assertThat(answer.content()).isEqualTo("x");
    assertThat(journey.origin().request("/a").values("Host")).containsExactly(told);
    assertThat(journey.origin().request("/a").values("X-Forwarded-Host")).containsExactly(told);
  }

  /** What the store holds for one host is no answer for another, however the host is named. */
  @Test
  void noHostAnswersForAnother() {
    journey
        .origin()
        .on(
            "/a",
            visit ->
                visit.send(ok(visit.request().field("Host") + "", "Cache-Control: max-age=60")));
    for (int round = 0; round < 2; round++) {
      assertThat(said("/a", "b.test")).isEqualTo("b.test");
      assertThat(said("http://b.test/a", "evil.test")).isEqualTo("b.test");
      assertThat(said("/a", "evil.test")).isEqualTo("evil.test");
      assertThat(said("http://evil.test/a", "b.test")).isEqualTo("evil.test");
      assertThat(said("/a", "b.test:81")).isEqualTo("b.test:81");
    }
    assertThat(journey.origin().requests("/a")).hasSize(3);
  }

  /** Fields that tell another host reach the origin as we saw it, or not at all. */
  @Test
  void noFieldTellsTheOriginOfAnotherHost() {
    journey.origin().on("/a", ok("x", "Cache-Control: no-store"));
    for (String name :
        List.of("X-Forwarded-Host", "X_Forwarded_Host", "X-Host", "X-HTTP-Host-Override")) {
      journey.get("/a", name + ": evil.test");
    }
    journey.get("/a", "Forwarded: host=evil.test");
    assertThat(journey.origin().requests("/a"))
        .hasSize(5)
        .allSatisfy(request -> assertThat(request.head()).doesNotContain("evil.test"));
  }

  private String said(String target, String host) {
    return journey.say("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n").content();
  }

  private void refused(String octets) {
    try (TestClient client = journey.client()) {
      Answer answer = client.send(octets).answer();
      assertThat(answer.status()).as(octets).isEqualTo(400);
      assertThat(client.isAtEnd()).as(octets).isTrue();
    }
    assertThat(journey.origin().requests()).as(octets).isEmpty();
  }
}
