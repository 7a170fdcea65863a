package io.kamille.core.client.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.exchange.Exchange;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Heads of which only a part has come, of 4 KiB each, and room for two of them. */
class UnfinishedHeadsIT {

  private static final String PART = "GET /a HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(3_000);
  private static final String REST = "\r\n\r\n";

  private final TestServer server = TestServer.withRoomForHeads(10_000, Protocols.H1);
  private final ServerShard loop = server.loops().getFirst();

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
    assertThat(loop.connections().displacedHeads()).isEqualTo(1);
    assertThat(loop.connections().unfinishedHeadBytes()).isZero();
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
    assertThat(loop.connections().displacedHeads()).isZero();
    assertThat(loop.connections().unfinishedHeadBytes()).isZero();
  }

  @Test
  void soDoesOneThatIsMalformedLateOrLeft() {
    TestClient malformed = partly();
    assertThat(malformed.send("\n").answer().status()).isEqualTo(400);
    TestClient late = partly();
    server.pass(Duration.ofSeconds(11));
    assertThat(late.answer().status()).isEqualTo(408);
    partly().reset();
    Await.until(() -> loop.connections().unfinishedHeadBytes() == 0, "the end of who left");
    partly().closeOutput();
    Await.until(() -> loop.connections().unfinishedHeadBytes() == 0, "the end of who closed");
    assertThat(loop.connections().displacedHeads()).isZero();
  }

  @Test
  void oneThatNeedsMoreThanThereIsIs431() {
    try (TestServer small = TestServer.withRoomForHeads(2_000, Protocols.H1)) {
      Answer answer = small.connect().send(PART).answer();
      assertThat(answer.status()).isEqualTo(431);
      assertThat(answer.field("Proxy-Status"))
          .isEqualTo(
              "kamille; error=http_request_error;"
                  + " details=\"a head larger than the room for request heads\"");
      assertThat(small.loops().getFirst().connections().displacedHeads()).isZero();
      assertThat(small.connect().get("/b").answer().content()).isEqualTo("/b");
      assertThat(small.loops().getFirst().connections().unfinishedHeadBytes()).isZero();
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

  @Test
  void aFaultWithTheOneThatYieldsIsItsEndAndNotThatOfTheOneThatIsReadFrom() {
    TestClient oldest = partly();
    TestClient second = partly();
    server.observerIsFaulty(true);
    TestClient third = server.connect().send(PART);
    assertThat(oldest.isAtEnd()).isTrue();
    server.observerIsFaulty(false);
    Await.until(() -> server.connections() == 2, "the end of one");
    assertThat(second.send(REST).answer().content()).isEqualTo("/a");
    assertThat(third.send(REST).answer().content()).isEqualTo("/a");
  }

  @Test
  void whoClosesItsSideWithinAHeadHasNoneOfItKeptWhileItTakesTheAnswerBefore() {
    AtomicReference<@Nullable Exchange> met = new AtomicReference<>();
    server.on(
        "/large",
        exchange -> {
          met.set(exchange);
          TestServer.stored(exchange, "x".repeat(40 << 10));
        });
    TestClient slow = server.connect(4_096).get("/large");
    slow.readUntil("\r\n\r\n");
    send(slow, PART);
    H1Exchange spare = (H1Exchange) Objects.requireNonNull(met.get()).reply();
    assertThat(onLoop(spare::isUnderWay)).as("the loop's spare one is in use again").isTrue();
    slow.closeOutput();
    Await.until(() -> onLoop(() -> loop.connections().lingering() > 0), "its end");
    assertThat(onLoop(spare::isUnderWay)).isFalse();
  }

  private boolean onLoop(Callable<Boolean> question) {
    Future<Boolean> answer = loop.loop().submit(question);
    assertThat(answer.awaitUninterruptibly(TestServer.LIMIT_NANOS, TimeUnit.NANOSECONDS)).isTrue();
    return answer.getNow();
  }

  /** A client of whose head the loop has a part. */
  private TestClient partly() {
    TestClient client = server.connect();
    send(client, PART);
    return client;
  }

  private void send(TestClient client, String part) {
    long before = loop.connections().unfinishedHeadBytes() + loop.connections().displacedHeads();
    client.send(part);
    Await.until(
        () ->
            loop.connections().unfinishedHeadBytes() + loop.connections().displacedHeads() > before,
        "a part of a head");
  }
}
