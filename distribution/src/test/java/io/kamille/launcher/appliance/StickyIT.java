package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient.Answer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Clients that come back to the origin that they had. */
class StickyIT {

  @TempDir private Path directory = Path.of("");

  @RegisterExtension private final Journey journey = new Journey();

  private final StubOrigin second = open();

  private static StubOrigin open() {
    try {
      return StubOrigin.open();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void twoOrigins() throws IOException {
    Path secret = Files.writeString(directory.resolve("secret"), "sixteen octets and more");
    journey.origin().on("/", ok("first"));
    second.on("/", ok("second"));
    journey.with(
        "upstreams: {two: {origins: ['"
            + journey.origin().url()
            + "', '"
            + second.url()
            + "'], choice: round-robin, health: {failures: 1}, sticky: {cookie: at, secret-file: "
            + secret
            + "}}}",
        "routes: [{upstream: two, cache: off}]");
  }

  @AfterEach
  void close() throws IOException {
    second.close();
  }

  @Test
  void aClientComesBackToItsOriginAlsoAfterAReload() {
    Answer answer = journey.get("/");
    String cookie = cookie(answer);
    for (int i = 0; i < 5; i++) {
      Answer again = journey.get("/", "Cookie: a=b; " + cookie);
      assertThat(again.content()).isEqualTo(answer.content());
      assertThat(again.field("Set-Cookie")).isNull();
      journey.appliance().reload(journey.configuration());
    }
    assertThat(answer.field("Set-Cookie")).endsWith("; Path=/; HttpOnly; SameSite=Lax");
  }

  @Test
  void afterAReloadWithAnotherSecretNoCookieOfTheLastOneCounts() throws IOException {
    String cookie = cookie(journey.get("/"));
    Files.writeString(directory.resolve("secret"), "another one of enough octets");
    assertThat(journey.get("/", "Cookie: " + cookie).field("Set-Cookie")).isNull();
    journey.appliance().reload(journey.configuration());
    Answer renewed = journey.get("/", "Cookie: " + cookie);
    assertThat(renewed.field("Set-Cookie")).isNotNull();
    assertThat(journey.get("/", "Cookie: " + cookie(renewed)).field("Set-Cookie")).isNull();
  }

  @Test
  void aValidationForAClientWithoutTheCookieKeepsWhatIsStored() {
    journey.with("routes: [{upstream: two}]");
    String cookie = cookie(journey.get("/"));
    List<StubOrigin> origins = List.of(journey.origin(), second);
    for (StubOrigin origin : origins) {
      origin.on("/page", ok("kept", "Cache-Control: no-cache, max-age=600", "ETag: \"v1\""));
    }
    assertThat(journey.get("/page", "Cookie: " + cookie).content()).isEqualTo("kept");
    for (StubOrigin origin : origins) {
      origin.on("/page", head("304 Not Modified", "ETag: \"v1\"") + "\r\n");
    }
    for (int i = 0; i < 3; i++) {
      Answer validated = journey.get("/page");
      assertThat(validated.content()).isEqualTo("kept");
      assertThat(validated.field("Set-Cookie")).isNull();
    }
    for (StubOrigin origin : origins) {
      origin.on("/page", ok("new", "Cache-Control: max-age=600", "ETag: \"v2\""));
    }
    assertThat(journey.get("/page").field("Set-Cookie")).isNotNull();
  }

  @Test
  void anOriginThatIsDrainedGetsNothingEvenOfItsOwnClients() throws Exception {
    Answer answer = journey.get("/");
    while (!answer.content().equals("second")) {
      answer = journey.get("/");
    }
    String cookie = cookie(answer);
    assertThat(drain(second, "{\"state\":\"drain\",\"for\":\"10m\"}")).contains("\"seconds\":600");
    for (int i = 0; i < 10; i++) {
      assertThat(journey.get("/", "Cookie: " + cookie).content()).isEqualTo("first");
    }
    assertThat(journey.admin("/v1/upstreams").body()).contains("\"drainedUntil\":\"2");
    assertThat(drain(journey.origin(), "{\"state\":\"drain\",\"for\":\"10m\"}"))
        .contains("\"status\":409");
    assertThat(drain(second, "{\"state\":\"drain\"}")).contains("\"status\":400");
    assertThat(drain(second, "{\"state\":\"out\",\"for\":\"10m\"}")).contains("\"status\":400");
    assertThat(drain(second, "{\"state\":\"in\",\"for\":\"10m\"}")).contains("\"status\":400");
    assertThat(drain(second, "{\"state\":\"in\"}")).contains("\"seconds\":0");
    assertThat(journey.get("/", "Cookie: " + cookie).content()).isEqualTo("second");
  }

  private String drain(StubOrigin origin, String content) throws Exception {
    return journey
        .send(
            journey
                .adminRequest("/v1/upstreams/two/origins/127.0.0.1%3A" + origin.port())
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(content))
                .build())
        .body();
  }

  @Test
  void aForgedCookieCountsForNothing() {
    String cookie = cookie(journey.get("/"));
    assertThat(journey.get("/", "Cookie: " + cookie + "x").field("Set-Cookie")).isNotNull();
    assertThat(journey.get("/", "Cookie: at=0").field("Set-Cookie")).isNotNull();
  }

  @Test
  void aClientWhoseOriginIsLostGetsAnotherOneForGood() throws IOException {
    Answer answer = journey.get("/");
    while (!answer.content().equals("second")) {
      answer = journey.get("/");
    }
    String cookie = cookie(answer);
    second.kill();
    Answer moved = journey.get("/", "Cookie: " + cookie);
    assertThat(moved.content()).isEqualTo("first");
    assertThat(journey.get("/", "Cookie: " + cookie(moved)).field("Set-Cookie")).isNull();
  }

  private static String cookie(Answer answer) {
    String line = String.valueOf(answer.field("Set-Cookie"));
    return line.substring(0, line.indexOf(';'));
  }
}
