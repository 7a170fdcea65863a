package io.kamille.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestServer;
import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.exchange.Exchange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients through random minutes that pass by hand: hits, answers that take their time, and heads
 * in parts, in HTTP/1.1 and HTTP/2. A small model says which connections are there.
 */
class ClientLifeIT {

  private static final int STEPS = 100 + 10 * Integer.getInteger("kamille.life", 0);
  private static final int CLIENTS = 8;
  private static final long HEAD_SECONDS = 10;
  private static final long IDLE_SECONDS = 60;

  private final TestServer server = new TestServer(TestServer.SETTINGS, 1, Protocols.BOTH);
  private final Map<String, Exchange> slow = new ConcurrentHashMap<>();
  private final List<Client> clients = new ArrayList<>();
  private Random random = new Random(0);
  private long now;
  private int names;

  @AfterEach
  void close() {
    clients.forEach(Client::close);
    server.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void whatIsInUseStaysAndWhatIsIdleEnds(long seed) {
    random = new Random(seed + Long.getLong("kamille.life.seed", 0));
    server.on("/slow", exchange -> slow.put(exchange.request().target(), exchange));
    for (int i = 0; i < STEPS; i++) {
      if (clients.size() < CLIENTS) {
        clients.add(random.nextBoolean() ? new Old() : new New());
      }
      clients.get(random.nextInt(clients.size())).act();
      // Before, at and after each time.
      long[] gaps = {
        0, 0, 1, 2, HEAD_SECONDS - 1, HEAD_SECONDS, IDLE_SECONDS / 2, IDLE_SECONDS - 1
      };
      pass(gaps[random.nextInt(gaps.length)] + random.nextInt(2));
    }
  }

  /** One sweep a second, as the loops do it. */
  private void pass(long seconds) {
    for (long i = 0; i < seconds; i++) {
      server.settle();
      now++;
      server.pass(Duration.ofSeconds(1));
      List<Client> ended = clients.stream().filter(Client::endsNow).toList();
      clients.removeAll(ended);
      ended.forEach(Client::expectEnd);
      int left = clients.size();
      Await.until(() -> server.connections() == left, left + " clients are left");
      clients.stream().filter(Client::isInUse).forEach(client -> client.usedAt = now);
    }
  }

  /** One connection, and what the model knows of it. */
  private abstract class Client {

    long usedAt = now;
    boolean hasSpoken;
    long headBegunAt = -1;
    String pending = "";

    boolean isInUse() {
      return !pending.isEmpty();
    }

    boolean endsNow() {
      if (headBegunAt >= 0) {
        return now - headBegunAt >= HEAD_SECONDS;
      }
      return !isInUse() && now - usedAt >= (hasSpoken ? IDLE_SECONDS : HEAD_SECONDS);
    }

    void used() {
      usedAt = now;
      hasSpoken = true;
    }

    void act() {
      if (headBegunAt >= 0) {
        endHead();
        headBegunAt = -1;
        used();
      } else if (isInUse()) {
        answerSlow();
        used();
      } else {
        begin(random.nextInt(4));
      }
    }

    private void begin(int what) {
      if (what == 0) {
        beginHead();
        headBegunAt = now;
      } else if (what == 1) {
        pending = "/slow?" + names++;
        ask(pending);
        Await.until(() -> slow.containsKey(pending));
        used();
      } else if (what == 2) {
        hit();
        used();
      } else {
        sayNothingOfUse();
      }
    }

    private void answerSlow() {
      Exchange exchange = Objects.requireNonNull(slow.remove(pending));
      exchange.loop().execute(() -> TestServer.answer(exchange.reply(), 200, 2, "ok"));
      expectSlow();
      pending = "";
    }

    abstract void beginHead();

    abstract void endHead();

    abstract void ask(String target);

    abstract void expectSlow();

    abstract void hit();

    abstract void sayNothingOfUse();

    abstract void expectEnd();

    abstract void close();
  }

  private final class Old extends Client {

    private final TestClient client = server.connect();

    Old() {
      server.settle();
    }

    @Override
    void beginHead() {
      client.send("GET /hit HTT");
    }

    @Override
    void endHead() {
      client.send("P/1.1\r\nHost: a\r\n\r\n");
      assertThat(client.answer().content()).isEqualTo("/hit");
    }

    @Override
    void ask(String target) {
      client.get(target);
    }

    @Override
    void expectSlow() {
      assertThat(client.answer().content()).isEqualTo("ok");
    }

    @Override
    void hit() {
      assertThat(client.get("/hit").answer().content()).isEqualTo("/hit");
    }

    /** RFC 9112 §2.2: an empty line is no request. */
    @Override
    void sayNothingOfUse() {
      client.send(hasSpoken ? "\r\n" : "");
    }

    @Override
    void expectEnd() {
      if (headBegunAt >= 0) {
        assertThat(client.answer().status()).isEqualTo(408);
      }
      assertThat(client.isAtEnd()).isTrue();
      client.close();
    }

    @Override
    void close() {
      client.close();
    }
  }

  private final class New extends Client {

    private static final int END_BOTH = TestH2Client.END_STREAM | TestH2Client.END_HEADERS;

    private final TestH2Client client = TestH2Client.connect(server.address());
    private final byte[] section = section("/hit");
    private int stream = -1;

    New() {
      client.settle();
    }

    private static byte[] section(String path) {
      return TestH2Client.section(
          ":method", "GET", ":scheme", "http", ":authority", "a", ":path", path);
    }

    private byte[] frame() {
      byte[] frame = new byte[9 + section.length];
      frame[2] = (byte) section.length;
      frame[3] = (byte) TestH2Client.HEADERS;
      frame[4] = (byte) END_BOTH;
      frame[7] = (byte) (stream >> 8);
      frame[8] = (byte) stream;
      System.arraycopy(section, 0, frame, 9, section.length);
      return frame;
    }

    @Override
    void beginHead() {
      stream += 2;
      client.raw(Arrays.copyOf(frame(), 12)).flush();
    }

    @Override
    void endHead() {
      byte[] frame = frame();
      client.raw(Arrays.copyOfRange(frame, 12, frame.length)).flush();
      assertThat(client.answer(stream).content()).isEqualTo("/hit");
    }

    @Override
    void ask(String target) {
      stream += 2;
      client.get(stream, target).flush();
    }

    @Override
    void expectSlow() {
      assertThat(client.answer(stream).content()).isEqualTo("ok");
    }

    @Override
    void hit() {
      stream += 2;
      assertThat(client.get(stream, "/hit").answer(stream).content()).isEqualTo("/hit");
    }

    /** Frames are no request. */
    @Override
    void sayNothingOfUse() {
      client.settle();
    }

    @Override
    void expectEnd() {
      client.awaitEnd();
      client.close();
    }

    @Override
    void close() {
      client.close();
    }
  }
}
