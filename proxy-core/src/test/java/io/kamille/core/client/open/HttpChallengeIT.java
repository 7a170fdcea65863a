package io.kamille.core.client.open;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.gate.AccessList;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Challenges;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What authorities are answered in clear text (RFC 8555 §8.3), and what nobody is. */
class HttpChallengeIT {

  private static final String PATH = "/.well-known/acme-challenge/";
  private static final String TOKEN = "evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ";
  private static final String ANSWER = TOKEN + ".nP1qzpXGymHBrUEepNY9HCsQk7K8KhOypzEt62jcerQ";

  /** Paths that lead to the one of the token by some reading, or are near to it. */
  private static final List<String> OTHERS =
      List.of(
          PATH,
          PATH + "x",
          PATH + TOKEN + "x",
          PATH + TOKEN.substring(1),
          PATH + TOKEN + "/",
          PATH + TOKEN + "?a=b",
          PATH + TOKEN + "?",
          PATH + "%65" + TOKEN.substring(1),
          PATH + "./" + TOKEN,
          PATH + "x/../" + TOKEN,
          PATH + "%2e/" + TOKEN,
          PATH + "/" + TOKEN,
          PATH + ANSWER,
          PATH + "../../a",
          "/" + PATH + TOKEN,
          "/a/.." + PATH + TOKEN,
          "/%2ewell-known/acme-challenge/" + TOKEN,
          "/.well-known/acme%2dchallenge/" + TOKEN,
          "/.well-known/acme-challenge%2f" + TOKEN,
          "/.Well-Known/acme-challenge/" + TOKEN,
          "/x" + PATH + TOKEN);

  private final Challenges challenges = new Challenges();

  private TestServer server(int redirectPort) {
    return new TestServer(
        TestServer.SETTINGS,
        1,
        Sections.copy(
                TestServer.settings(Protocols.BOTH, AccessList.ALL, ProxyProtocolSettings.OFF))
            .with("redirectPort", redirectPort)
            .record(),
        null,
        challenges);
  }

  /** What matters of an answer, by either version. */
  private record Seen(
      int status,
      @Nullable String type,
      @Nullable String length,
      @Nullable String control,
      @Nullable String location,
      @Nullable String age,
      String content) {

    static Seen of(TestClient.Answer answer) {
      return new Seen(
          answer.status(),
          answer.field("Content-Type"),
          answer.field("Content-Length"),
          answer.field("Cache-Control"),
          answer.field("Location"),
          answer.field("Age"),
          answer.content());
    }

    static Seen of(TestH2Client.Answer answer) {
      Map<String, String> fields = answer.fields();
      return new Seen(
          answer.status(),
          fields.get("content-type"),
          fields.get("content-length"),
          fields.get("cache-control"),
          fields.get("location"),
          fields.get("age"),
          answer.content());
    }

    /** The route of the test server answers as from the store. */
    boolean isOfTheRoute() {
      return status == 200 && "1".equals(age) && type == null;
    }

    boolean isRedirect() {
      return status == 308 && location != null && content.isEmpty();
    }
  }

  private static Seen ask(TestServer server, boolean isH2, String method, String target) {
    if (isH2) {
      try (TestH2Client client = TestH2Client.connect(server.address())) {
        return Seen.of(client.request(1, method, target, true).answer(1));
      }
    }
    try (TestClient client = TestClient.connect(server.address())) {
      return Seen.of(client.request(method, target).answer(method));
    }
  }

  private void await(String token, String answer) throws IOException {
    challenges.replace(Map.of(token, answer), Map.of());
  }

  @ParameterizedTest
  @CsvSource({"0, false", "0, true", "443, false", "443, true"})
  void theVeryTokenIsAnsweredBeforeRouteAndRedirect(int redirectPort, boolean isH2)
      throws IOException {
    await(TOKEN, ANSWER);
    try (TestServer server = server(redirectPort)) {
      String length = Integer.toString(ANSWER.length());
      assertThat(ask(server, isH2, "GET", PATH + TOKEN))
          .isEqualTo(new Seen(200, "text/plain", length, "no-store", null, null, ANSWER));
      assertThat(ask(server, isH2, "HEAD", PATH + TOKEN))
          .isEqualTo(new Seen(200, "text/plain", length, "no-store", null, null, ""));
      if (!isH2) {
        assertThat(ask(server, false, "GET", "http://a" + PATH + TOKEN).content())
            .isEqualTo(ANSWER);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyOtherRequestTakesItsRoute(boolean isH2) throws IOException {
    await(TOKEN, ANSWER);
    try (TestServer server = server(0)) {
      for (String target : OTHERS) {
        Seen seen = ask(server, isH2, "GET", target);
        assertThat(seen.isOfTheRoute()).as("%s: %s", target, seen).isTrue();
      }
      for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND")) {
        Seen seen = ask(server, isH2, method, PATH + TOKEN);
        assertThat(seen.isOfTheRoute()).as("%s: %s", method, seen).isTrue();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void besideARedirectOtherTokensTakeTheirRouteAndOtherPathsAreRedirected(boolean isH2)
      throws IOException {
    await(TOKEN, ANSWER);
    try (TestServer server = server(443)) {
      for (String target : OTHERS) {
        Seen seen = ask(server, isH2, "GET", target);
        assertThat(seen.isOfTheRoute() || seen.isRedirect()).as("%s: %s", target, seen).isTrue();
        assertThat(seen.type()).isNull();
      }
      assertThat(ask(server, isH2, "GET", PATH + "x").isOfTheRoute()).isTrue();
      assertThat(ask(server, isH2, "POST", PATH + TOKEN).isOfTheRoute()).isTrue();
      assertThat(ask(server, isH2, "GET", PATH + "../../a").isRedirect()).isTrue();
      assertThat(ask(server, isH2, "GET", "/x" + PATH + TOKEN).isRedirect()).isTrue();
    }
  }

  @Test
  void nothingOfTheRequestIsInTheAnswer() throws IOException {
    await(TOKEN, ANSWER);
    try (TestServer server = server(0)) {
      server.on(PATH + "other", exchange -> TestServer.stored(exchange, "the route"));
      assertThat(ask(server, false, "GET", PATH + "other").content()).isEqualTo("the route");
      try (TestClient client = server.connect()) {
        assertThat(client.get(PATH + TOKEN, "X-Token: other", "Referer: other").answer().content())
            .isEqualTo(ANSWER);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void onceNobodyAwaitsItTheTokenTakesItsRoute(boolean isH2) throws IOException {
    try (TestServer server = server(443)) {
      assertThat(ask(server, isH2, "GET", PATH + TOKEN).isOfTheRoute()).isTrue();
      await(TOKEN, ANSWER);
      assertThat(ask(server, isH2, "GET", PATH + TOKEN).content()).isEqualTo(ANSWER);
      await("another", "another.print");
      assertThat(ask(server, isH2, "GET", PATH + TOKEN).isOfTheRoute()).isTrue();
      challenges.replace(Map.of(), Map.of());
      assertThat(ask(server, isH2, "GET", PATH + TOKEN).isOfTheRoute()).isTrue();
      assertThat(ask(server, isH2, "GET", PATH + "another").isOfTheRoute()).isTrue();
    }
  }
}
