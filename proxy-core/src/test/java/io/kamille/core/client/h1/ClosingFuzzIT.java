package io.kamille.core.client.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Clients and stations that do whatever is allowed, in any order, until either is gone: everybody
 * hears of the end once, nothing leaks, no connection stays, and the loop lives on.
 */
class ClosingFuzzIT {

  private static final int CLIENTS = 1_500;
  private static final int MOST_CLIENTS = 20 * CLIENTS;

  /** Requests that reach their station: fewer prove little. */
  private static final int LEAST = CLIENTS / 4;

  private static final Failure ENOUGH = Failure.of(ErrorType.HTTP_RESPONSE_INCOMPLETE, "enough");

  private final List<Station> stations = Collections.synchronizedList(new ArrayList<>());
  private long seed;
  private SplittableRandom stationRandom = new SplittableRandom();

  @Test
  void everybodyHearsOfTheEndOnce() {
    FuzzBudget budget = new FuzzBudget(1);
    while (budget.hasNext()) {
      stations.clear();
      seed = FuzzBudget.SEED + 2 * (budget.round() - 1);
      stationRandom = new SplittableRandom(seed);
      clientsComeAndGo(new SplittableRandom(seed + 1));
    }
    budget.report("endings, " + CLIENTS + " clients a round");
  }

  private void clientsComeAndGo(SplittableRandom random) {
    try (TestServer server = new TestServer()) {
      server.on("/s", exchange -> new Station(exchange).handle());
      List<TestClient> clients = new ArrayList<>();
      // What a client has sent is lost if it resets before the loop has read it.
      for (int i = 0; i < CLIENTS || (stations.size() <= LEAST && i < MOST_CLIENTS); i++) {
        clients.add(server.connect());
        act(clients.get(random.nextInt(clients.size())), random);
        if (clients.size() > 20) {
          leave(clients.remove(random.nextInt(clients.size())), random);
        }
      }
      clients.forEach(client -> leave(client, random));
      awaitNoConnection(server);
      try (TestClient after = server.connect()) {
        assertThat(after.get("/after").answer().content()).isEqualTo("/after");
      }
      // Whoever came before this client has been accepted by now.
      awaitNoConnection(server);
      List<Station> all = List.copyOf(stations);
      assertThat(all).as("seed %d", seed).hasSizeGreaterThan(LEAST);
      all.forEach(Station::assertTold);
      long told = server.ended().stream().filter(ended -> ended.target().equals("/s")).count();
      assertThat(told).as("seed %d, observed", seed).isEqualTo(all.size());
    }
  }

  private void awaitNoConnection(TestServer server) {
    Await.until(
        () -> {
          server.pass(java.time.Duration.ofSeconds(31));
          return server.connections() == 0;
        },
        "connections left, seed " + seed);
    server.settle();
  }

  private static void act(TestClient client, SplittableRandom random) {
    try {
      for (int i = random.nextInt(4); i >= 0; i--) {
        client.send(request(random));
      }
      switch (random.nextInt(8)) {
        case 0 -> client.closeOutput();
        case 2 -> client.send("GET / HTTP/1.1\r\nHo");
        case 3 -> client.send("\0");
        default -> {}
      }
    } catch (UncheckedIOException gone) {
      // The server may close whenever it has answered.
    }
  }

  private static String request(SplittableRandom random) {
    String content = "x".repeat(random.nextInt(3_000));
    String cut = content.substring(random.nextInt(content.length() + 1));
    return switch (random.nextInt(8)) {
      case 0 -> "GET /s HTTP/1.0\r\n\r\n";
      case 1 -> "GET /s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      case 2 -> "GET /s HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + content;
      case 3 -> post("Content-Length: " + content.length()) + content;
      case 4 -> post("Content-Length: " + content.length()) + cut;
      case 5 -> post("Transfer-Encoding: chunked") + chunk(content) + chunk(cut) + "0\r\n\r\n";
      case 6 -> post("Transfer-Encoding: chunked") + chunk(content) + "x";
      default -> "GET /s HTTP/1.1\r\nHost: a\r\n\r\n";
    };
  }

  private static String post(String line) {
    return "POST /s HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n";
  }

  private static String chunk(String content) {
    return content.isEmpty()
        ? ""
        : Integer.toHexString(content.length()) + "\r\n" + content + "\r\n";
  }

  private static void leave(TestClient client, SplittableRandom random) {
    if (random.nextBoolean()) {
      client.reset();
    } else {
      client.close();
    }
  }

  /** Does one allowed thing after the other with its exchange. Confined to the loop. */
  private final class Station implements ContentSource, ContentSink {

    private final Exchange exchange;
    private boolean started;
    private boolean tunneled;
    private boolean stopped;
    private boolean failed;
    private boolean answered;
    private boolean ended;
    private int cancels;
    private int ends;

    Station(Exchange exchange) {
      this.exchange = exchange;
    }

    void handle() {
      stations.add(this);
      if (roll(2)) {
        exchange.reply().open(this);
      }
      step();
    }

    private void step() {
      for (int i = stationRandom.nextInt(3); i >= 0 && !answered; i--) {
        move();
      }
      if (!answered) {
        exchange.loop().schedule(this::step, stationRandom.nextInt(300), TimeUnit.MICROSECONDS);
      }
    }

    private void move() {
      Reply reply = exchange.reply();
      if (!started && !stopped && roll(3)) {
        started = true;
        exchange.content().start(this);
      } else if (started && ends == 0 && roll(10)) {
        stopped = true;
        exchange.content().cancel(ENOUGH);
      } else if (roll(10)) {
        exchange.content().pause();
      } else if (roll(10)) {
        exchange.content().resume();
      } else if (!reply.isBegun()) {
        begin(reply);
      } else if (roll(4)) {
        reply.write(TestServer.octets("y".repeat(stationRandom.nextInt(5_000))));
      } else if (roll(4)) {
        finish(reply, false, () -> reply.end(null));
      } else if (roll(8)) {
        finish(reply, true, () -> reply.abort(ENOUGH));
      } else if (reply.isEnded()) {
        answered = true;
        exchange.content().resume();
      }
    }

    private void begin(Reply reply) {
      switch (stationRandom.nextInt(7)) {
        case 0 -> finish(reply, false, () -> TestServer.stored(exchange, "stored"));
        case 1 -> finish(reply, true, () -> reply.fail(ENOUGH));
        case 2 -> reply.head(ResponseHead.of(200), 100);
        case 3 -> reply.head(ResponseHead.of(200), -1);
        case 4 -> reply.interim(ResponseHead.of(103));
        case 5 -> {
          reply.head(ResponseHead.of(101, "Upgrade", "x"), -1);
          if (!started) {
            started = true;
            tunneled = true;
            exchange.content().tunnel(this);
          }
        }
        default -> {}
      }
    }

    private void finish(Reply reply, boolean fails, Runnable last) {
      answered = true;
      // After the failure of a station, nothing is told to the same station.
      failed = failed || fails;
      last.run();
      ended = reply.isEnded();
      assertThat(ended || tunneled).isTrue();
      exchange.content().resume();
    }

    private boolean roll(int sides) {
      return stationRandom.nextInt(sides) == 0;
    }

    @Override
    public void write(ByteBuf chunk) {
      chunk.release();
      assertThat(ends).as("a chunk behind the end").isZero();
      assertThat(stopped).as("a chunk after the cancellation").isFalse();
      if (roll(50)) {
        stopped = true;
        exchange.content().cancel(ENOUGH);
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      ends++;
    }

    @Override
    public void abort(Failure why) {
      ends++;
    }

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      cancels++;
    }

    void assertTold() {
      assertThat(cancels).as("seed %d, cancelled", seed).isLessThanOrEqualTo(1);
      assertThat(ends).as("seed %d, content ended", seed).isLessThanOrEqualTo(1);
      if (started && !stopped && !failed) {
        assertThat(ends).as("seed %d, content ended", seed).isEqualTo(1);
      }
      // The reply of one that was answered from the store may be another request's by now.
      assertThat(ended || exchange.reply().isEnded()).as("seed %d, ended", seed).isTrue();
    }
  }
}
