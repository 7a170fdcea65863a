package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.answer;
import static io.kamille.core.client.h1.TestServer.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Reply;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Persistent connections and pipelining (RFC 9112 §9.3). */
class PersistenceIT {

  private final TestServer server = new TestServer();
  private final TestClient client = server.connect();

  PersistenceIT() {
    server.on("/sync", exchange -> answer(exchange.reply(), 200, 4, "sync"));
    server.on("/later", exchange -> later(exchange, () -> stored(exchange, "later")));
    server.on(
        "/chunks",
        exchange -> later(exchange, () -> answer(exchange.reply(), 200, -1, "chu", "nks")));
  }

  @AfterEach
  void close() {
    server.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/stored", "/sync", "/later", "/chunks"})
  void aConnectionServesOneRequestAfterTheOther(String path) {
    for (int i = 0; i < 3; i++) {
      Answer answer = client.get(path).answer();
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.field("Connection")).isNull();
      assertThat("/" + answer.content()).endsWith(path);
    }
    server.settle();
    assertThat(server.connections()).isEqualTo(1);
    assertThat(server.ended()).hasSize(3);
  }

  @Test
  void aDrainIsOverWithTheLastAnswerWhetherTheClientClosesItsSideOrNot() {
    TestClient client = server.connect();
    assertThat(client.get("/a").answer().content()).isEqualTo("/a");
    server.loops().getFirst().drain(Duration.ZERO);
    Await.until(() -> server.connections() == 0, "its end");
  }

  @Test
  void anIdleConnectionMaySendOneMoreRequestWhoseAnswerSaysThatItIsTheLast() {
    assertThat(client.get("/a").answer().field("Connection")).isNull();
    server.loops().getFirst().drain(Duration.ofSeconds(15));
    server.settle();
    server.pass(Duration.ofSeconds(14));
    Answer last = client.get("/a").answer();
    assertThat(last.content()).isEqualTo("/a");
    assertThat(last.field("Connection")).isEqualTo("close");
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void anIdleConnectionThatSendsNothingMoreIsClosedInTheEnd() {
    assertThat(client.get("/a").answer().status()).isEqualTo(200);
    server.loops().getFirst().drain(Duration.ofSeconds(15));
    server.settle();
    server.pass(Duration.ofSeconds(14));
    assertThat(server.connections()).isEqualTo(1);
    server.pass(Duration.ofSeconds(1));
    assertThat(client.isAtEnd()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 30})
  void pipelinedRequestsAreAnsweredInOrder(long idleSeconds) {
    client.get("/a").answer();
    server.pass(Duration.ofSeconds(idleSeconds));
    String[] paths = {"/stored", "/later", "/sync", "/chunks", "/a", "/later", "/b", "/sync"};
    StringBuilder requests = new StringBuilder();
    for (int i = 0; i < 1_000; i++) {
      requests.append("GET " + paths[i % paths.length] + " HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    client.send(requests.toString());
    for (int i = 0; i < 1_000; i++) {
      assertThat("/" + client.answer().content()).endsWith(paths[i % paths.length]);
    }
  }

  @Test
  void pipelinedRequestsDoNotNest() {
    AtomicInteger depth = new AtomicInteger();
    AtomicInteger deepest = new AtomicInteger();
    server.on(
        "/depth",
        exchange ->
            later(
                exchange,
                () -> {
                  deepest.accumulateAndGet(
                      Thread.currentThread().getStackTrace().length, Math::max);
                  stored(exchange, "" + depth.incrementAndGet());
                }));
    client.send("GET /depth HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1_000));
    for (int i = 1; i <= 1_000; i++) {
      assertThat(client.answer().content()).isEqualTo("" + i);
    }
    assertThat(deepest.get()).isLessThan(50);
  }

  @Test
  void oneClientWithALongPipelineDoesNotStarveAnother() {
    TestClient other = server.connect();
    server.settle();
    AtomicInteger served = new AtomicInteger();
    AtomicInteger servedBefore = new AtomicInteger();
    server.on(
        "/long",
        exchange -> {
          served.incrementAndGet();
          stored(exchange, "x".repeat(1_000));
        });
    server.on(
        "/other",
        exchange -> {
          servedBefore.set(served.get());
          stored(exchange, "other");
        });
    // Nobody reads the answers: the loop must leave off when the client does not take them.
    client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20_000));
    assertThat(other.get("/other").answer().content()).isEqualTo("other");
    assertThat(servedBefore.get()).isLessThan(20_000);
  }

  @Test
  void answersThatNobodyReadsStayBounded() {
    AtomicInteger served = new AtomicInteger();
    server.on(
        "/long",
        exchange -> {
          served.incrementAndGet();
          stored(exchange, "x".repeat(100_000));
        });
    TestClient slow = server.connect(4_096);
    int count = 500;
    slow.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n".repeat(count));
    Await.until(() -> served.get() > 1, "the first answers");
    server.settle();
    // What the kernels hold (some megabytes) plus one answer over the high watermark.
    assertThat(served.get()).isLessThan(200);
    for (int i = 0; i < count; i++) {
      assertThat(slow.answer().content()).hasSize(100_000);
    }
    assertThat(served.get()).isEqualTo(count);
  }

  @Test
  void requestsThatComeOctetByOctetAreOneRequest() {
    String requests =
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxy"
            + "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";
    for (int i = 0; i < requests.length(); i++) {
      client.send(requests.substring(i, i + 1));
      server.settle();
    }
    assertThat(client.answer().content()).isEqualTo("/a");
    assertThat(client.answer().content()).isEqualTo("/b");
  }

  @Test
  void aClientThatHasSaidAllGetsAllAnswers() {
    client.get("/later").get("/a").get("/chunks");
    client.closeOutput();
    assertThat(client.answer().content()).isEqualTo("later");
    assertThat(client.answer().content()).isEqualTo("/a");
    assertThat(client.answer().content()).isEqualTo("chunks");
    assertThat(client.isAtEnd()).isTrue();
  }

  @Test
  void aClientThatClosesBetweenRequestsIsForgotten() {
    client.get("/a").answer();
    client.closeOutput();
    assertThat(client.isAtEnd()).isTrue();
    Await.until(() -> server.connections() == 0, "the end");
  }

  // Who wants the connection to end (§9.3, §9.6)

  @ParameterizedTest
  @ValueSource(strings = {"/stored", "/sync", "/later", "/chunks"})
  void closeIsAnsweredWithClose(String path) {
    // In one segment: what comes later may find the connection closed, and be answered by a reset.
    client.send(
        "GET "
            + path
            + " HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE , y\r\n\r\n"
            + "GET /never HTTP/1.1\r\nHost: a\r\n\r\n");
    Answer answer = client.answer();
    assertThat("/" + answer.content()).endsWith(path);
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(client.isAtEnd()).isTrue();
    assertThat(server.ended()).hasSize(1);
  }

  @Test
  void http10ClosesUnlessAskedToKeepAlive() {
    client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assertThat(client.answer().field("Connection")).isEqualTo("keep-alive");
    client.send("GET /a HTTP/1.0\r\nConnection: Keep-Alive, close\r\n\r\n");
    assertThat(client.answer().field("Connection")).isEqualTo("close");
    assertThat(client.isAtEnd()).isTrue();

    TestClient second = server.connect();
    second.send("GET /a HTTP/1.0\r\n\r\n");
    Answer answer = second.answer();
    assertThat(answer.content()).isEqualTo("/a");
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(second.isAtEnd()).isTrue();
  }

  @Test
  void aReusedExchangeKnowsNothingOfTheOneBefore() {
    client.send("GET /a?x HTTP/1.0\r\nHost: b:1\r\nConnection: keep-alive\r\nCookie: c\r\n\r\n");
    assertThat(client.answer().content()).isEqualTo("/a");
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    server.on(
        "/b",
        exchange -> {
          seen.add(exchange.request().toString() + exchange.request().authority());
          stored(exchange, "b");
        });
    assertThat(client.get("/b").answer().field("Connection")).isNull();
    assertThat(seen).containsExactly("GET /b HTTP/1.1\nHost: a\na");
  }

  @Test
  void anExchangeSomebodyStillHoldsIsNotReused() {
    Queue<Exchange> kept = new ArrayDeque<>();
    server.on(
        "/kept",
        exchange -> {
          kept.add(exchange);
          answer(exchange.reply(), 200, 0);
        });
    for (int i = 0; i < 3; i++) {
      client.get("/kept?" + i).answer();
    }
    server.settle();
    assertThat(kept.stream().map(exchange -> exchange.request().target()))
        .containsExactly("/kept?0", "/kept?1", "/kept?2");
    assertThat(kept.stream().map(Exchange::reply).distinct()).hasSize(3);
    Reply over = kept.element().reply();
    server.on(
        "/after",
        exchange ->
            later(
                exchange,
                () -> {
                  over.fail(io.kamille.core.exchange.Failure.request(400, "too late"));
                  over.write(TestServer.octets("too late"));
                  over.end(null);
                  stored(exchange, "after");
                }));
    assertThat(client.get("/after").answer().content()).isEqualTo("after");
  }

  private static void later(Exchange exchange, Runnable task) {
    exchange.loop().schedule(task, 0, TimeUnit.NANOSECONDS);
  }
}
