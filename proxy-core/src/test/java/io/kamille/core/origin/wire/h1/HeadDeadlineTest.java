package io.kamille.core.origin.wire.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.pool.Waiter;
import io.kamille.core.origin.wire.OriginExchange;
import io.kamille.core.origin.wire.OriginProgress;
import io.kamille.core.origin.wire.RequestConnection;
import io.kamille.core.origin.wire.RequestHeadWriter;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long an origin may take for a response head; the ticks of the pool come by hand. */
class HeadDeadlineTest {

  private static final ConnectionSettings SETTINGS = ConnectionSettings.DEFAULTS;
  private static final int LIMIT = (int) SETTINGS.headTimeout().toSeconds();
  private static final InetSocketAddress CLIENT = new InetSocketAddress("192.0.2.7", 4711);

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final RecordingReply reply = new RecordingReply();
  private final Content content = new Content();
  private @Nullable H1OriginConnection connection;
  private @Nullable Failure failure;

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  @Test
  void anOriginThatDripsItsHeadIsGivenUpAtTheDeadline() {
    send(RequestContent.NONE);
    tick(0);
    receive("HTTP/1.1 200 OK\r\nX-Long: ");
    for (int second = 1; second < LIMIT; second++) {
      receive("x");
      tick(1);
      assertThat(failure).as("after %d s", second).isNull();
    }
    receive("x");
    tick(1);
    assertThat(failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_TIMEOUT);
    assertThat(failure().status()).isEqualTo(504);
    assertThat(failure().reason()).contains("60000 ms");
  }

  @Test
  void interimResponsesDoNotMoveTheDeadline() {
    send(RequestContent.NONE);
    tick(0);
    for (int i = 0; i < 10; i++) {
      assertThat(failure).isNull();
      receive("HTTP/1.1 102 Processing\r\n\r\n");
      tick(LIMIT / 10);
    }
    assertThat(reply.interims()).hasSize(10);
    assertThat(failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_TIMEOUT);
  }

  @Test
  void itCountsFromTheEndOfTheUpload() {
    send(content);
    for (int second = 0; second < 2 * LIMIT; second++) {
      tick(1);
    }
    receive("HTTP/1.1 103 Early Hints\r\n\r\n");
    tick(LIMIT);
    content.end();
    tick(1);
    tick(LIMIT - 1);
    assertThat(failure).isNull();
    tick(1);
    assertThat(failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_TIMEOUT);
  }

  @Test
  void anOriginThatBeginsItsHeadDuringTheUploadMustEndItInTime() {
    send(content);
    receive("HTTP/1.1 ");
    tick(1);
    receive("4");
    tick(LIMIT - 1);
    assertThat(failure).isNull();
    receive("1");
    tick(1);
    assertThat(failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_TIMEOUT);
  }

  @Test
  void timeInWhichTheClientTakesNothingDoesNotCount() {
    send(RequestContent.NONE);
    tick(0);
    connection().exchange().pause();
    tick(2 * LIMIT);
    connection().exchange().resume();
    tick(1);
    tick(LIMIT - 1);
    assertThat(failure).isNull();
    receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assertThat(reply.head().status()).isEqualTo(200);
    assertThat(reply.isEnded()).isTrue();
  }

  @Test
  void theNextRequestHasADeadlineOfItsOwn() {
    send(RequestContent.NONE);
    tick(0);
    tick(LIMIT - 1);
    receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assertThat(reply.isEnded()).isTrue();
    RecordingReply second = new RecordingReply();
    connection()
        .exchange()
        .send(exchange(RequestContent.NONE, second), RequestContent.NONE, second, new Asked());
    tick(1);
    tick(LIMIT - 1);
    assertThat(failure).isNull();
    tick(1);
    assertThat(failure().kind()).isEqualTo(ErrorType.HTTP_RESPONSE_TIMEOUT);
  }

  private void send(RequestContent sent) {
    var registry = new MetricRegistry();
    var connections = MetricDescriptor.counter("kamille_test_total", "Connections.");
    var settings = ForwardingSettings.DEFAULTS;
    var pool =
        new ConnectionPool<RequestConnection>(
            "origin",
            PoolSettings.DEFAULTS,
            asked -> {
              connection =
                  new H1OriginConnection(
                      "origin",
                      () -> true,
                      asked,
                      SETTINGS,
                      new RequestHeadWriter(settings, new HeadWriter()));
              channel.pipeline().addLast(connection().handler());
              asked.dialed(connection());
            },
            channel.eventLoop(),
            clock,
            1,
            Duration.ofSeconds(1).toNanos(),
            registry.counter(connections),
            registry.counter(connections));
    Exchange exchange = exchange(sent, reply);
    pool.await(
        new Waiter<>() {
          @Override
          public void lend(RequestConnection lent) {
            lent.exchange().send(exchange, exchange.content(), reply, new Asked());
          }

          @Override
          public void refuse(Failure why) {
            throw new AssertionError(why);
          }
        });
  }

  private Exchange exchange(RequestContent sent, Reply to) {
    RequestHead request = RequestHead.of("PUT", "http://example.org/");
    return new Exchange(channel.eventLoop(), CLIENT, CLIENT, request, sent, to);
  }

  private void receive(String octets) {
    channel.writeInbound(Unpooled.copiedBuffer(octets, StandardCharsets.ISO_8859_1));
  }

  private void tick(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    connection().tick(clock.nanos());
  }

  private H1OriginConnection connection() {
    return Objects.requireNonNull(connection);
  }

  private Failure failure() {
    return Objects.requireNonNull(failure, "no failure");
  }

  private final class Asked implements OriginExchange.Owner {

    @Override
    public void answered(ResponseHead head) {}

    @Override
    public void uploaded() {}

    @Override
    public void ended() {}

    @Override
    public void failed(Failure why, OriginProgress progress, boolean isCounted) {
      failure = why;
    }
  }

  /** Content of unknown length that ends when the test says so. */
  private static final class Content implements RequestContent {

    private @Nullable ContentSink sink;

    void end() {
      Objects.requireNonNull(sink).end(null);
    }

    @Override
    public long length() {
      return UNKNOWN_LENGTH;
    }

    @Override
    public void start(ContentSink into) {
      sink = into;
    }

    @Override
    public void tunnel(ContentSink into) {}

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {}
  }
}
