package io.kamille.core.server.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.server.h1.TestClient.Answer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Heads of which only a part has come, of 4 KiB each, and room for two of them. */
class UnfinishedHeadsIT {

  private static final String PART = "GET /a HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(3_000);
  private static final String REST = "\r\n\r\n";

  private final TestServer server = new TestServer(TestServer.withUnfinishedHeads(10_000), 1);
  private final H1Loop loop = server.loops().getFirst();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void theOldestYieldsWhenTheirRoomIsUsedUpAndIs408() {
    TestClient first = partly();
    TestClient second = partly();
    TestClient third = server.connect().send(PART);
    Answer answer = first.answer();
    assertThat(answer.status()).isEqualTo(408);
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(answer.field("Proxy-Status"))
        .isEqualTo(
            "kamille; error=http_request_error;"
                + " details=\"the room for unfinished request heads is used up\"");
    assertThat(first.isAtEnd()).isTrue();
    assertThat(second.send(REST).answer().content()).isEqualTo("/a");
    assertThat(third.send(REST).answer().content()).isEqualTo("/a");
    assertThat(loop.displacedHeads()).isEqualTo(1);
    assertThat(loop.unfinishedHeadBytes()).isZero();
  }

  @Test
  void aHeadThatIsFinishedGivesItsRoomBack() {
    TestClient one = server.connect();
    TestClient other = server.connect();
    for (int i = 0; i < 10; i++) {
      send(one, PART);
      send(other, PART);
      assertThat(one.send(REST).answer().content()).isEqualTo("/a");
      assertThat(other.send(REST).answer().content()).isEqualTo("/a");
    }
    assertThat(loop.displacedHeads()).isZero();
    assertThat(loop.unfinishedHeadBytes()).isZero();
  }

  @Test
  void soDoesOneThatIsMalformedLateOrLeft() {
    TestClient malformed = partly();
    assertThat(malformed.send("\n").answer().status()).isEqualTo(400);
    TestClient late = partly();
    server.pass(Duration.ofSeconds(11));
    assertThat(late.answer().status()).isEqualTo(408);
    partly().reset();
    TestServer.await("the end of who left", () -> loop.unfinishedHeadBytes() == 0);
    partly().closeOutput();
    TestServer.await("the end of who closed", () -> loop.unfinishedHeadBytes() == 0);
    assertThat(loop.displacedHeads()).isZero();
  }

  @Test
  void oneThatNeedsMoreThanThereIsYieldsItself() {
    try (TestServer small = new TestServer(TestServer.withUnfinishedHeads(2_000), 1)) {
      assertThat(small.connect().send(PART).answer().status()).isEqualTo(408);
      assertThat(small.connect().get("/b").answer().content()).isEqualTo("/b");
      assertThat(small.loops().getFirst().unfinishedHeadBytes()).isZero();
    }
  }

  @Test
  void requestsUnderWayAndIdleConnectionsYieldNothing() {
    TestClient idle = server.connect();
    assertThat(idle.get("/b").answer().content()).isEqualTo("/b");
    TestClient first = partly();
    partly();
    partly();
    assertThat(first.answer().status()).isEqualTo(408);
    assertThat(idle.get("/c").answer().content()).isEqualTo("/c");
  }

  /** A client of whose head the loop has a part. */
  private TestClient partly() {
    TestClient client = server.connect();
    send(client, PART);
    return client;
  }

  private void send(TestClient client, String part) {
    long before = loop.unfinishedHeadBytes() + loop.displacedHeads();
    client.send(part);
    TestServer.await(
        "a part of a head", () -> loop.unfinishedHeadBytes() + loop.displacedHeads() > before);
  }
}
