package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.launcher.appliance.UpstreamSnapshot.OriginSnapshot;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Origins that refuse, hang, die or talk nonsense: each time a defined answer (RFC 9209). */
class OriginTroubleIT {

  private static final String FRESH = "Cache-Control: max-age=60";

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void anOriginThatRefusesIsA502() throws IOException {
    journey.origin().kill();
    Answer answer = journey.get("/a");
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.field("Proxy-Status")).isEqualTo("kamille; error=connection_refused");
    assertThat(answer.field("Cache-Status")).isEqualTo("kamille; fwd=uri-miss");
    assertThat(answer.field("Cache-Control")).isEqualTo("no-store");
  }

  /** Linux drops a SYN while the queue of those that wait to be accepted is full. */
  @Test
  void anOriginThatTakesNoConnectionIsA504() throws IOException {
    try (var full = FullOrigin.open(0)) {
      journey.with(
          "upstreams: {site: {origins: ['http://127.0.0.1:"
              + full.port()
              + "'], connect-timeout: 200ms}}");
      Answer answer = journey.get("/a");
      assertThat(answer.status()).isEqualTo(504);
      assertThat(answer.field("Proxy-Status")).isEqualTo("kamille; error=connection_timeout");
    }
  }

  @Test
  void whileOneRequestTriesAnOriginThatTakesNoConnectionsOthersAreAnsweredAtOnce()
      throws IOException {
    journey
        .with("loops: 1")
        .withUpstream("connect-timeout: 5m, health: {out-for: 1h}")
        .origin()
        .on("/kept", ok("kept", "Cache-Control: max-age=10, stale-if-error=600", "Age: 60"));
    assertThat(journey.get("/kept").content()).isEqualTo("kept");
    journey.origin().kill();
    for (int i = 0; i < 3; i++) {
      assertThat(journey.get("/a").status()).isEqualTo(502);
    }
    try (var full = FullOrigin.open(journey.origin().port());
        TestClient tries = journey.client().get("/a")) {
      Await.until(() -> originState().inFlight() == 1, "a request tries port " + full.port());
      Answer refused = journey.get("/b");
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.field("Proxy-Status")).contains("error=destination_unavailable");
      assertThat(refused.field("Retry-After")).isEqualTo("1");
      assertThat(journey.get("/kept").content()).isEqualTo("kept");
      tries.reset();
    }
  }

  private OriginSnapshot originState() {
    return journey.appliance().routes().upstreams().getFirst().origins().getFirst();
  }

  @Test
  void whenAllOriginsAreOutTheyAreAskedAllTheSame() {
    journey
        .withUpstream("retries: 0, health: {failures: 1, out-for: 1h}")
        .origin()
        .on("/broken", StubOrigin.Visit::close)
        .on("/a", ok("x"));
    assertThat(journey.get("/broken").status()).isEqualTo(502);
    assertThat(journey.get("/a").status()).isEqualTo(200);
  }

  @Test
  void anOriginThatHangsIsA504() {
    var never = new CountDownLatch(1);
    journey
        .withUpstream("head-timeout: 100ms, retries: 0")
        .origin()
        .on("/a", visit -> Await.opened(never));
    Answer answer = journey.get("/a");
    assertThat(answer.status()).isEqualTo(504);
    assertThat(answer.field("Proxy-Status")).contains("error=http_response_timeout");
    never.countDown();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aDeathWithinTheContentIsNeverACleanEnd(boolean reset) {
    var gate = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/big",
            visit -> {
              visit.send(head("200 OK", FRESH, "Content-Length: 100000") + "\r\n");
              visit.send("x".repeat(50_000));
              Await.opened(gate);
              if (reset) {
                visit.reset();
              } else {
                visit.close();
              }
            });
    try (TestClient client = journey.client().get("/big")) {
      client.readUntil("\r\n\r\n");
      client.read(50_000);
      gate.countDown();
      assertThatThrownBy(() -> client.read(50_000)).hasMessageContaining("closed after 0 of 50000");
    }
    journey.origin().on("/big", ok("whole", FRESH));
    Answer next = journey.get("/big");
    assertThat(next.field("Cache-Status")).contains("fwd=uri-miss");
    assertThat(next.content()).isEqualTo("whole");
  }

  @Test
  void chunksWithoutTheirEndAreNeverACleanEnd() {
    journey
        .origin()
        .on(
            "/chunked",
            visit -> {
              visit.send(
                  head("200 OK", FRESH, "Transfer-Encoding: chunked") + "\r\n5\r\nhello\r\n");
              visit.close();
            });
    try (TestClient client = journey.client().get("/chunked")) {
      assertThatThrownBy(client::answer).hasMessageContaining("closed");
    }
    try (TestClient client = journey.client()) {
      client.send("GET /chunked HTTP/1.0\r\n\r\n");
      assertThatThrownBy(client::answer).as("a client of version 1.0").isNotNull();
    }
    assertThat(journey.origin().requests("/chunked")).hasSize(2);
  }

  @Test
  void aDeadConnectionInThePoolIsNotTheClientsTrouble() {
    var visits = new AtomicInteger();
    journey
        .with("loops: 1")
        .origin()
        .on(
            "/a",
            visit -> {
              visits.incrementAndGet();
              visit.send(ok("x"));
              visit.close();
            });
    for (int i = 0; i < 20; i++) {
      assertThat(journey.get("/a").content()).isEqualTo("x");
    }
    assertThat(visits).hasValue(20);
  }

  @Test
  void aSafeRequestIsTriedOnceMoreAndAnUnsafeOneIsNot() {
    var visits = new AtomicInteger();
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              visit.content();
              if (visits.incrementAndGet() == 1) {
                visit.reset();
              } else {
                visit.send(ok("second"));
              }
            })
        .on("/post", StubOrigin.Visit::reset);
    assertThat(journey.get("/a").content()).isEqualTo("second");
    Answer posted = journey.say("POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    assertThat(posted.status()).isEqualTo(502);
    assertThat(posted.field("Proxy-Status")).contains("error=connection_terminated");
    assertThat(journey.origin().requests("/post")).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http_protocol_error | hello~~",
        "http_protocol_error | HTTP/1.1 2000 OK~~",
        "http_protocol_error | HTTP/1.1 200 OK~Content-Length: 1~Content-Length: 2~~ab",
        "http_protocol_error | HTTP/1.1 200 OK~Content-Length: -1~~",
        "http_protocol_error | HTTP/1.1 200 OK~no colon~~",
        "http_protocol_error | HTTP/1.1 200 OK~Space : x~~",
        "http_protocol_error | HTTP/1.1 200 OK~Transfer-Encoding: gzip~~",
        "http_protocol_error | HTTP/1.1 101 Switching Protocols~Upgrade: x~Connection: upgrade~~",
        "http_protocol_error | HTTP/2.0 200 OK~~",
        "http_protocol_error | HTTP/1.1 600 x~Cache-Control: max-age=60~Content-Length: 0~~",
        "http_protocol_error | HTTP/1.1 304 Not Modified~~",
      })
  void anAnswerWeCannotTrustIsA502(String error, String message) {
    journey
        .withUpstream("retries: 0")
        .origin()
        .on(
            "/a",
            visit -> {
              visit.send(message.replace("~", "\r\n"));
              visit.close();
            });
    Answer answer = journey.get("/a");
    assertThat(answer.status()).isEqualTo(502);
    assertThat(answer.field("Proxy-Status")).contains("error=" + error);
    assertThat(journey.get("/unheard").status()).as("others are served").isEqualTo(404);
  }

  @Test
  void aHeadOverTheLimitIsA502() {
    journey
        .origin()
        .on("/long", ok("x", "X: " + "y".repeat(70_000)))
        .on("/many", ok("x", "X: y\r\n".repeat(200) + "X: y"));
    for (String target : new String[] {"/long", "/many"}) {
      Answer answer = journey.get(target);
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.field("Proxy-Status")).contains("error=http_response_header_section_size");
    }
  }

  @Test
  void moreContentThanAnnouncedIsCutOffAndTheNextAnswerIsSound() {
    journey
        .withUpstream("retries: 0")
        .origin()
        .on("/a", visit -> visit.send(ok("hello") + "surplus"))
        .on("/b", ok("sound"));
    assertThat(journey.get("/a").content()).isEqualTo("hello");
    for (int i = 0; i < 10; i++) {
      assertThat(journey.get("/b").content()).isEqualTo("sound");
    }
  }

  @Test
  void malformedChunksEndTheTransferUncleanly() {
    journey
        .origin()
        .on(
            "/a",
            visit ->
                visit.send(
                    head("200 OK", FRESH, "Transfer-Encoding: chunked") + "\r\n5\r\nhelloXX"));
    try (TestClient client = journey.client().get("/a")) {
      assertThatThrownBy(client::answer).hasMessageContaining("closed");
    }
    assertThat(journey.origin().requests("/a")).hasSize(1);
  }

  @Test
  void withOneOriginDeadRequestsStillSucceedAndItIsLeftOut() throws Exception {
    try (StubOrigin other = StubOrigin.open()) {
      journey.with(
          "loops: 1",
          "upstreams: {site: {origins: ['"
              + journey.origin().url()
              + "', '"
              + other.url()
              + "'], choice: round-robin, health: {failures: 2, out-for: 1h}}}");
      other.on("/a", ok("alive"));
      journey.origin().kill();
      for (int i = 0; i < 20; i++) {
        assertThat(journey.get("/a").content()).isEqualTo("alive");
      }
      var upstream = journey.appliance().routes().upstreams().getFirst();
      assertThat(upstream.origins())
          .extracting(origin -> origin.state().name())
          .containsExactly("OUT", "IN");
      assertThat(upstream.origins().getFirst().failures()).isEqualTo(2);
    }
  }

  @Test
  void anOriginThatComesBackIsTriedAgain() throws Exception {
    int port = journey.origin().port();
    try (StubOrigin other = StubOrigin.open()) {
      journey.with(
          "loops: 1",
          "upstreams: {site: {origins: ['"
              + journey.origin().url()
              + "', '"
              + other.url()
              + "'], choice: round-robin, health: {failures: 1, out-for: 100ms}}}");
      other.on("/a", ok("other"));
      journey.origin().kill();
      for (int i = 0; i < 4; i++) {
        assertThat(journey.get("/a").content()).isEqualTo("other");
      }
      try (StubOrigin back = StubOrigin.open(port)) {
        back.on("/a", ok("back"));
        Await.until(() -> journey.get("/a").content().equals("back"), "the origin is in again");
      }
    }
  }

  @Test
  void roundRobinSpreadsByWeight() throws Exception {
    try (StubOrigin other = StubOrigin.open()) {
      journey.with(
          "loops: 1",
          "upstreams: {site: {origins: ['"
              + journey.origin().url()
              + "', {url: '"
              + other.url()
              + "', weight: 3}], choice: round-robin}}");
      journey.origin().on("/a", ok("x"));
      other.on("/a", ok("x"));
      for (int i = 0; i < 40; i++) {
        journey.get("/a");
      }
      assertThat(journey.origin().requests("/a")).hasSize(10);
      assertThat(other.requests("/a")).hasSize(30);
    }
  }

  @Test
  void whatWouldWaitTooLongForABusyOriginIsAnsweredStaleWhereThatMayBe() {
    var gate = new CountDownLatch(1);
    journey
        .with("loops: 1")
        .withUpstream("max-connections: 1, queue-timeout: 100ms")
        .origin()
        .on("/kept", ok("kept", "Cache-Control: max-age=10, stale-if-error=600", "Age: 60"))
        .on(
            "/a",
            visit -> {
              Await.opened(gate);
              visit.send(ok("x", "Cache-Control: no-store"));
            });
    assertThat(journey.get("/kept").content()).isEqualTo("kept");
    TestClient first = journey.client().get("/a", "Cache-Control: no-store");
    journey.origin().awaitRequests("/a", 1);
    Answer stale = journey.get("/kept");
    assertThat(stale.content()).isEqualTo("kept");
    assertThat(stale.field("Cache-Status"))
        .startsWith("kamille; fwd=stale; ")
        .endsWith("; detail=stale-if-error");
    assertThat(journey.get("/other").field("Proxy-Status"))
        .contains("error=connection_limit_reached");
    assertThat(journey.origin().requests("/kept")).hasSize(1);
    gate.countDown();
    assertThat(first.answer().content()).isEqualTo("x");
  }

  @Test
  void tooManyForOneOriginAreToldSo() {
    var gate = new CountDownLatch(1);
    journey
        .with("loops: 1")
        .withUpstream("max-connections: 1")
        .origin()
        .on("/kept", ok("kept", "Cache-Control: max-age=10, stale-if-error=600", "Age: 60"))
        .on(
            "/a",
            visit -> {
              Await.opened(gate);
              visit.send(ok("x", "Cache-Control: no-store"));
            });
    assertThat(journey.get("/kept").content()).isEqualTo("kept");
    TestClient first = journey.client().get("/a", "Cache-Control: no-store");
    journey.origin().awaitRequests("/a", 1);
    TestClient second = journey.client().get("/a", "Cache-Control: no-store");
    TestClient third = journey.client().get("/a", "Cache-Control: no-store");
    Await.until(
        () ->
            journey.appliance().routes().upstreams().getFirst().origins().stream()
                    .mapToInt(origin -> (int) origin.inFlight())
                    .sum()
                == 3,
        "the second and the third wait");
    Answer fourth = journey.get("/a", "Cache-Control: no-store");
    assertThat(fourth.status()).isEqualTo(503);
    assertThat(fourth.field("Proxy-Status")).contains("error=connection_limit_reached");
    Answer stale = journey.get("/kept");
    assertThat(stale.content()).isEqualTo("kept");
    assertThat(stale.field("Cache-Status")).endsWith("; detail=stale-if-error");
    gate.countDown();
    assertThat(first.answer().content()).isEqualTo("x");
    assertThat(second.answer().content()).isEqualTo("x");
    assertThat(third.answer().content()).isEqualTo("x");
  }
}
