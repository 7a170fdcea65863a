package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What happens to a stored response that is not fresh (RFC 9111 §4.2.4, §4.3; RFC 5861). */
class ValidationIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void a304FreshensWhatIsStored() {
    journey.origin().on("/a", ok("kept", "Cache-Control: max-age=10", "Age: 60", "ETag: \"v1\""));
    journey.get("/a");
    journey
        .origin()
        .on("/a", head("304 Not Modified", "Cache-Control: max-age=600", "ETag: \"v1\"") + "\r\n");
    Answer validated = journey.get("/a");
    assertThat(validated.status()).isEqualTo(200);
    assertThat(validated.content()).isEqualTo("kept");
    assertThat(validated.field("Cache-Status")).contains("fwd=stale").contains("fwd-status=304");
    assertThat(journey.origin().requests("/a").get(1).field("If-None-Match")).isEqualTo("\"v1\"");
    Answer fresh = journey.get("/a");
    assertThat(fresh.content()).isEqualTo("kept");
    assertThat(fresh.field("Cache-Status")).contains("; hit;");
    assertThat(fresh.field("Cache-Control")).isEqualTo("max-age=600");
    assertThat(journey.origin().requests("/a")).hasSize(2);
  }

  @Test
  void a200ReplacesWhatIsStored() {
    journey.origin().on("/a", ok("old", "Cache-Control: max-age=10", "Age: 60", "ETag: \"v1\""));
    journey.get("/a");
    journey.origin().on("/a", ok("new", "Cache-Control: max-age=600", "ETag: \"v2\""));
    assertThat(journey.get("/a").content()).isEqualTo("new");
    Answer hit = journey.get("/a");
    assertThat(hit.content()).isEqualTo("new");
    assertThat(hit.field("ETag")).isEqualTo("\"v2\"");
    assertThat(journey.origin().requests("/a")).hasSize(2);
  }

  @Test
  void noCacheIsValidatedEachTime() {
    journey.origin().on("/a", ok("x", "Cache-Control: no-cache, max-age=600", "ETag: \"v1\""));
    journey.get("/a");
    journey.origin().on("/a", head("304 Not Modified", "ETag: \"v1\"") + "\r\n");
    assertThat(journey.get("/a").content()).isEqualTo("x");
    assertThat(journey.get("/a").content()).isEqualTo("x");
    assertThat(journey.origin().requests("/a")).hasSize(3);
  }

  /** Though it has no Content-Length. */
  @Test
  void theConnectionThatA304CameOnIsUsedAgain() {
    journey.origin().on("/a", ok("x", "Cache-Control: no-cache", "ETag: \"v1\""));
    TestClient client = journey.client();
    client.get("/a").answer();
    journey.origin().on("/a", head("304 Not Modified", "ETag: \"v1\"") + "\r\n");
    for (int i = 0; i < 3; i++) {
      assertThat(client.get("/a").answer().content()).isEqualTo("x");
    }
    assertThat(journey.origin().requests("/a"))
        .extracting(StubOrigin.Request::connection)
        .containsOnly(journey.origin().requests("/a").getFirst().connection());
  }

  @Test
  void staleIfErrorCoversAnOriginThatFails() throws IOException {
    journey
        .withUpstream("retries: 0, connect-timeout: 200ms")
        .origin()
        .on("/a", ok("kept", "Cache-Control: max-age=10, stale-if-error=600", "Age: 60"))
        .on("/b", ok("kept", "Cache-Control: max-age=10", "Age: 60", "ETag: \"b\""));
    journey.get("/a");
    journey.get("/b");
    journey.origin().on("/a", message("503 Service Unavailable", "no"));
    assertThat(journey.get("/a").content()).isEqualTo("kept");
    journey.origin().kill();
    Answer stale = journey.get("/a");
    assertThat(stale.status()).isEqualTo(200);
    assertThat(stale.content()).isEqualTo("kept");
    assertThat(stale.field("Cache-Status")).contains("detail=stale-if-error");
    Answer refused = journey.get("/b");
    assertThat(refused.status()).as("%s", refused).isEqualTo(502);
  }

  @Test
  void staleWhileRevalidateAnswersAtOnceAndAsksBehindIt() {
    journey
        .origin()
        .on("/a", ok("old", "Cache-Control: max-age=10, stale-while-revalidate=600", "Age: 60"));
    journey.get("/a");
    journey.origin().on("/a", ok("new", "Cache-Control: max-age=600"));
    Answer stale = journey.get("/a");
    assertThat(stale.content()).isEqualTo("old");
    assertThat(stale.field("Cache-Status")).contains("; hit; ttl=-");
    journey.origin().awaitRequests("/a", 2);
    Await.until(() -> journey.get("/a").content().equals("new"), "the new response is stored");
    assertThat(journey.origin().requests("/a")).hasSize(2);
  }

  @Test
  void theClientsOwnConditionIsAnsweredFromWhatTheOriginConfirmed() {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=10", "Age: 60", "ETag: \"v1\""));
    journey.get("/a");
    journey
        .origin()
        .on("/a", head("304 Not Modified", "Cache-Control: max-age=600", "ETag: \"v1\"") + "\r\n");
    assertThat(journey.get("/a", "If-None-Match: \"v1\"").status()).isEqualTo(304);
    assertThat(journey.get("/a").content()).isEqualTo("x");
  }
}
