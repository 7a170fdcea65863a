package io.kamille.core.client.h1;

import static io.kamille.core.client.h1.TestServer.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/**
 * Many clients at once, each as slow as it can be: others are served, and each limit ends its own.
 */
class SlowClientsIT {

  private static final int SENDERS = 100;
  private static final int READERS = 50;
  private static final int PIECE = 256 << 10;

  /** More than any kernel buffer, and the same octets for all. */
  private static final int PIECES = 48;

  private final ConcurrentLinkedQueue<TestSource> sources = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<TestSink> sinks = new ConcurrentLinkedQueue<>();

  @Test
  void slowHeadsSlowContentAndSlowReadersAreEndedByTheirLimits() {
    ByteBuf piece = TestServer.octets("x".repeat(PIECE));
    try (TestServer server = new TestServer(TestServer.withDownloadRate(), 2)) {
      server.on("/large", exchange -> large(exchange, piece));
      server.on("/upload", this::upload);
      List<TestClient> heads = connect(server, SENDERS, "GET / HTTP/1.1\r\nHost: a\r\n");
      List<TestClient> uploads =
          connect(
              server, SENDERS, "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\nx");
      List<TestClient> readers = connect(server, READERS, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
      readers.forEach(reader -> reader.read(1));
      Await.until(() -> server.connections() == 2 * SENDERS + READERS, "all of them");
      Await.until(() -> sinks.size() == SENDERS, "the uploads");

      TestClient good = server.connect();
      Await.until(
          () -> {
            server.pass(Duration.ofSeconds(1));
            assertThat(good.get("/between").answer().content()).isEqualTo("/between");
            return server.connections() == 1;
          },
          "the slow ones' end");

      assertThat(heads).allMatch(head -> head.answer().status() == 408);
      assertThat(uploads).allMatch(upload -> upload.answer().status() == 408);
      assertThat(server.loops().stream().mapToLong(shard -> shard.connections().tooSlow()).sum())
          .isEqualTo(READERS);
      assertThat(sources).hasSize(READERS).allMatch(source -> source.cancelled.size() == 1);
      assertThat(sinks).allMatch(sink -> sink.aborts.size() == 1);
    } finally {
      assertThat(piece.refCnt()).as("of what all were sent").isEqualTo(1);
      piece.release();
    }
  }

  private static List<TestClient> connect(TestServer server, int count, String opening) {
    List<TestClient> clients = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      clients.add(server.connect(4_096).send(opening));
    }
    return clients;
  }

  private void large(Exchange exchange, ByteBuf piece) {
    TestSource source = new TestSource();
    sources.add(source);
    exchange.reply().open(source);
    exchange.reply().head(ResponseHead.of(200), 2L * PIECES * PIECE);
    for (int i = 0; i < PIECES; i++) {
      exchange.reply().write(piece.retainedDuplicate());
    }
  }

  private void upload(Exchange exchange) {
    TestSink sink = new TestSink();
    sinks.add(sink);
    sink.atEnd(() -> stored(exchange, "taken"));
    exchange.content().start(sink);
  }
}
