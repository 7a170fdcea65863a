package io.kamille.core.client.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.exchange.Exchange;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that wait for their answer, with heads of 4 KiB each, and room for two of them. */
class HeadsUnderWayIT {

  private static final String LARGE = "X: " + "x".repeat(3_000);

  private final TestServer server = TestServer.withRoomForHeads(10_000, Protocols.H1);
  private final ServerShard loop = server.loops().getFirst();
  private final LinkedBlockingQueue<Exchange> waiting = new LinkedBlockingQueue<>();

  HeadsUnderWayIT() {
    server.on("/slow", waiting::add);
  }

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void aLargeHeadForWhichThereIsNoRoomIs503AndThoseUnderWayGoOn() {
    TestClient first = underWay(1);
    TestClient second = underWay(2);
    TestClient third = server.connect().get("/slow", LARGE);
    Answer refused = third.answer();
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.field("Retry-After")).isEqualTo("1");
    assertThat(refused.field("Connection")).isEqualTo("close");
    assertThat(refused.field("Proxy-Status"))
        .isEqualTo(
            "kamille; error=proxy_internal_response;"
                + " details=\"the room for large request heads is used up\"");
    assertThat(third.isAtEnd()).isTrue();
    assertThat(loop.headsUnderWay().refused()).isEqualTo(1);
    answerAll();
    assertThat(first.answer().content()).isEqualTo("at last");
    assertThat(second.answer().content()).isEqualTo("at last");
  }

  @Test
  void aRequestThatIsOverGivesItsRoomBack() {
    for (int i = 0; i < 5; i++) {
      TestClient client = underWay(1);
      answerAll();
      assertThat(client.answer().content()).isEqualTo("at last");
    }
    underWay(1).reset();
    Await.until(() -> loop.headsUnderWay().heapBytes() == 0, "the end of who left");
    assertThat(loop.headsUnderWay().refused()).isZero();
  }

  @Test
  void aLargeHeadThatIsAnsweredAtOnceNeedsRoomForThatMomentOnly() {
    for (int i = 0; i < 5; i++) {
      assertThat(server.connect().get("/hit", LARGE).answer().content()).isEqualTo("/hit");
    }
    assertThat(loop.headsUnderWay().heapBytes()).isZero();
    assertThat(loop.headsUnderWay().refused()).isZero();
  }

  @Test
  void aSmallHeadIsNotCountedWhateverTheLoopHadBefore() {
    assertThat(server.connect().get("/hit", LARGE).answer().content()).isEqualTo("/hit");
    for (int i = 1; i <= 5; i++) {
      int count = i;
      server.connect().get("/slow");
      Await.until(() -> waiting.size() == count, "the request");
    }
    server.settle();
    assertThat(loop.headsUnderWay().heapBytes()).isZero();
  }

  @Test
  void aSmallHeadHasRoomWhateverTheLargeOnesTake() {
    underWay(1);
    underWay(2);
    TestClient small = server.connect().get("/slow");
    Await.until(() -> waiting.size() == 3, "the request");
    answerAll();
    assertThat(small.answer().content()).isEqualTo("at last");
  }

  @Test
  void unfinishedHeadsHaveRoomOfTheirOwn() {
    underWay(1);
    underWay(2);
    TestClient client = server.connect().send("GET /hit HTTP/1.1\r\nHost: a\r\n");
    Await.until(() -> loop.connections().unfinishedHeadBytes() > 0, "a part of a head");
    assertThat(client.send("\r\n").answer().content()).isEqualTo("/hit");
    assertThat(loop.connections().displacedHeads()).isZero();
  }

  @Test
  void oneThatNeedsMoreThanThereIsIs431() {
    try (TestServer small = TestServer.withRoomForHeads(4_200, Protocols.H1)) {
      assertThat(small.connect().get("/hit", LARGE).answer().status()).isEqualTo(431);
      assertThat(small.connect().get("/hit").answer().content()).isEqualTo("/hit");
    }
  }

  /** A client whose request waits, and is the one of this number that does. */
  private TestClient underWay(int count) {
    TestClient client = server.connect().get("/slow", LARGE);
    Await.until(() -> waiting.size() == count, "the request");
    server.settle();
    assertThat(loop.headsUnderWay().heapBytes()).isGreaterThanOrEqualTo(count * 4_096L);
    return client;
  }

  private void answerAll() {
    for (Exchange exchange = waiting.poll(); exchange != null; exchange = waiting.poll()) {
      Exchange next = exchange;
      next.loop().execute(() -> TestServer.stored(next, "at last"));
    }
    Await.until(() -> loop.headsUnderWay().heapBytes() == 0, "their end");
  }
}
