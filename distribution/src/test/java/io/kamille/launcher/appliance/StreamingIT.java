package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.client.h2.TestH2Client;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Content on its way, in both directions (RFC 9112 §6, §7). */
class StreamingIT {

  private static final int BLOCK_BYTES = 64 << 10;
  private static final long HUGE_BYTES = 200L << 20;

  /** What two connections' kernel buffers and our own may hold, generously. */
  private static final long IN_FLIGHT_LIMIT_BYTES = 32L << 20;

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void chunksAndTrailersPassTowardTheClient() {
    journey
        .origin()
        .on(
            "/a",
            visit ->
                visit.send(
                    head("200 OK", "Transfer-Encoding: chunked", "Trailer: X-Sum")
                        + "\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n"));
    Answer answer = journey.get("/a", "TE: trailers", "Connection: TE");
    assertThat(answer.content()).isEqualTo("hello world");
    assertThat(answer.trailers()).containsExactly("X-Sum: 11");
    assertThat(journey.origin().request("/a").field("TE")).isEqualTo("trailers");
  }

  @Test
  void chunksAndTrailersPassTowardTheOrigin() {
    journey
        .origin()
        .on("/a", visit -> visit.send(ok(visit.content() + " | " + visit.trailers().strip())));
    Answer answer =
        journey.say(
            """
            POST /a HTTP/1.1
            Host: a
            Transfer-Encoding: chunked
            Trailer: X-Sum

            3
            abc
            4
            defg
            0
            X-Sum: 7

            """
                .replace("\n", "\r\n"));
    assertThat(answer.content()).isEqualTo("abcdefg | X-Sum: 7");
  }

  @Test
  void contentUntilTheConnectionClosesIsWholeAndStored() {
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              visit.send(
                  head("200 OK", "Cache-Control: max-age=60", "Connection: close")
                      + "\r\nto the end");
              visit.close();
            });
    assertThat(journey.get("/a").content()).isEqualTo("to the end");
    assertThat(journey.get("/a").content()).isEqualTo("to the end");
  }

  @Test
  void theOriginDecidesWhetherTheClientGoesOnIfUploadsAreNotBuffered() {
    journey
        .withUpstream("upload-buffer: off")
        .origin()
        .on(
            "/yes",
            visit -> {
              visit.send("HTTP/1.1 100 Continue\r\n\r\n");
              visit.send(ok("got " + visit.content()));
            })
        .on(
            "/no",
            visit -> {
              visit.send(
                  head("403 Forbidden", "Connection: close") + "Content-Length: 2\r\n\r\nno");
              visit.close();
            });
    try (TestClient client = journey.client()) {
      client.send(
          "POST /yes HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(100);
      assertThat(client.send("12345").answer().content()).isEqualTo("got 12345");
    }
    try (TestClient client = journey.client()) {
      client.send(
          "POST /no HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(403);
    }
    assertThat(journey.origin().request("/yes").field("Expect")).isEqualTo("100-continue");
  }

  @Test
  void aBufferedUploadIsAskedForBeforeTheOriginKnowsOfIt() {
    journey.origin().on("/a", visit -> visit.send(ok("got " + visit.content())));
    try (TestClient client = journey.client()) {
      client.send(
          "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(100);
      assertThat(journey.origin().requests("/a")).isEmpty();
      assertThat(client.send("12345").answer().content()).isEqualTo("got 12345");
    }
    assertThat(journey.origin().request("/a").field("Expect")).isNull();
  }

  @Test
  void interimAnswersPass() {
    journey
        .origin()
        .on(
            "/a",
            visit -> {
              visit.send("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
              visit.send(ok("final"));
            });
    try (TestClient client = journey.client().get("/a")) {
      Answer hints = client.answer();
      assertThat(hints.status()).isEqualTo(103);
      assertThat(hints.field("Link")).isEqualTo("</style.css>; rel=preload");
      assertThat(client.answer().content()).isEqualTo("final");
    }
  }

  @Test
  void anUpgradeBecomesATunnelThatEchoes() {
    journey
        .origin()
        .on(
            "/chat",
            visit -> {
              visit.send(
                  """
                  HTTP/1.1 101 Switching Protocols\r
                  Connection: Upgrade\r
                  Upgrade: websocket\r
                  \r
                  """);
              visit.in().transferTo(visit.out());
              visit.close();
            });
    try (TestClient client = journey.client()) {
      client.send(
          """
          GET /chat HTTP/1.1\r
          Host: a\r
          Connection: Upgrade\r
          Upgrade: websocket\r
          \r
          early\
          """);
      Answer switched = client.answer();
      assertThat(switched.status()).isEqualTo(101);
      assertThat(switched.field("Upgrade")).isEqualTo("websocket");
      assertThat(switched.field("Connection")).isEqualToIgnoringCase("upgrade");
      assertThat(client.read(5)).isEqualTo("early");
      assertThat(client.send("\0\1\2 GET / HTTP/1.1\r\n\r\n").read(22))
          .isEqualTo("\0\1\2 GET / HTTP/1.1\r\n\r\n");
      client.closeOutput();
      assertThat(client.isAtEnd()).isTrue();
    }
    assertThat(journey.origin().request("/chat").field("Upgrade")).isEqualTo("websocket");
  }

  @Test
  void pipelinedRequestsAreAnsweredInTheirOrder() {
    var gate = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/slow",
            visit -> {
              Await.opened(gate);
              visit.send(ok("slow"));
            })
        .on("/quick", ok("quick", "Cache-Control: max-age=60"));
    journey.get("/quick");
    try (TestClient client = journey.client()) {
      client.get("/slow").get("/quick").get("/slow").get("/quick");
      journey.origin().awaitRequests("/slow", 1);
      gate.countDown();
      for (String expected : new String[] {"slow", "quick", "slow", "quick"}) {
        assertThat(client.answer().content()).isEqualTo(expected);
      }
    }
  }

  @Test
  void aSlowClientPausesTheOrigin() {
    var sent = new AtomicLong();
    journey
        .origin()
        .on(
            "/huge",
            visit -> {
              visit.send(head("200 OK", "Content-Length: " + HUGE_BYTES) + "\r\n");
              pour(visit.out(), sent);
            });
    try (TestClient client = journey.client(BLOCK_BYTES).get("/huge")) {
      client.readUntil("\r\n\r\n");
      assertThat(Await.still(sent::get)).isLessThan(IN_FLIGHT_LIMIT_BYTES);
      assertThat(journey.appliance().routes().cache().usedBytes())
          .as("memory of the cache")
          .isLessThanOrEqualTo(16L << 20);
      CRC32C sum = new CRC32C();
      for (long read = 0; read < HUGE_BYTES; read += BLOCK_BYTES) {
        sum.update(client.octets(BLOCK_BYTES));
      }
      assertThat(sum.getValue()).isEqualTo(hugeSum());
    }
  }

  /** Chunks have no length, by which anybody could tell how much is still to come. */
  @Test
  void aClientOverHttp2ThatTakesNothingPausesTheOrigin() {
    var sent = new AtomicLong();
    journey
        .with("listeners: [{address: '127.0.0.1:0', protocols: [h2c]}]")
        .origin()
        .on(
            "/endless",
            visit -> {
              visit.send(head("200 OK", "Transfer-Encoding: chunked") + "\r\n");
              while (true) {
                visit.send("10000\r\n" + "x".repeat(BLOCK_BYTES) + "\r\n");
                sent.addAndGet(BLOCK_BYTES);
              }
            });
    int initialWindow = 4;
    try (var client = TestH2Client.connect(journey.address(), initialWindow, 0)) {
      assertThat(client.get(1, "/endless").head(1).status()).isEqualTo(200);
      assertThat(Await.still(sent::get)).isPositive().isLessThan(IN_FLIGHT_LIMIT_BYTES);
    }
  }

  @Test
  void aSlowOriginPausesTheClientIfUploadsAreNotBuffered() throws InterruptedException {
    var sent = new AtomicLong();
    var gate = new CountDownLatch(1);
    var received = new AtomicLong();
    journey
        .withUpstream("upload-buffer: off")
        .origin()
        .on(
            "/upload",
            visit -> {
              Await.opened(gate);
              CRC32C sum = new CRC32C();
              for (long read = 0; read < HUGE_BYTES; read += BLOCK_BYTES) {
                sum.update(visit.in().readNBytes(BLOCK_BYTES));
              }
              received.set(sum.getValue());
              visit.contentIsRead();
              visit.send(ok("done"));
            });
    try (TestClient client = journey.client()) {
      client.send("PUT /upload HTTP/1.1\r\nHost: a\r\nContent-Length: " + HUGE_BYTES + "\r\n\r\n");
      Thread sender = Thread.ofVirtual().start(() -> pour(client, sent));
      assertThat(Await.still(sent::get)).isLessThan(IN_FLIGHT_LIMIT_BYTES);
      gate.countDown();
      assertThat(client.answer().content()).isEqualTo("done");
      sender.join();
    }
    assertThat(received.get()).isEqualTo(hugeSum());
  }

  private static void pour(OutputStream out, AtomicLong sent) throws java.io.IOException {
    for (long from = 0; from < HUGE_BYTES; from += BLOCK_BYTES) {
      out.write(block(from));
      sent.addAndGet(BLOCK_BYTES);
    }
  }

  private static void pour(TestClient client, AtomicLong sent) {
    for (long from = 0; from < HUGE_BYTES; from += BLOCK_BYTES) {
      client.send(block(from));
      sent.addAndGet(BLOCK_BYTES);
    }
  }

  private static long hugeSum() {
    CRC32C sum = new CRC32C();
    for (long from = 0; from < HUGE_BYTES; from += BLOCK_BYTES) {
      sum.update(block(from));
    }
    return sum.getValue();
  }

  /** Octets that tell where they belong: no two blocks are the same. */
  private static byte[] block(long from) {
    byte[] block = new byte[BLOCK_BYTES];
    for (int i = 0; i < BLOCK_BYTES; i++) {
      block[i] = (byte) (i * 31L + from / BLOCK_BYTES * 7 + (from >> 24));
    }
    return block;
  }
}
