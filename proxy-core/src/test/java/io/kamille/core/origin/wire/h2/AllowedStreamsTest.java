package io.kamille.core.origin.wire.h2;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.h2.ResponseSink;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.pool.Waiter;
import io.kamille.core.origin.wire.RequestConnection;
import io.kamille.core.origin.wire.RequestHeadWriter;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many requests an origin allows as it begins, and what becomes of those that wait for it. */
class AllowedStreamsTest {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
  private static final String SETTINGS = "\0\0\6\4\0\0\0\0\0\0\3\0\0\0";
  private static final String GOAWAY = "\0\0\10\7\0\0\0\0\0\0\0\0\0\0\0\0\0";

  private final ManualClock clock = ManualClock.atSeconds(0);
  private final EmbeddedChannel loop = new EmbeddedChannel();
  private final List<EmbeddedChannel> dialed = new ArrayList<>();
  private final ConnectionPool<RequestConnection> pool = pool();
  private @Nullable RequestConnection lent;
  private @Nullable Failure refused;

  @AfterEach
  void close() {
    dialed.forEach(EmbeddedChannel::finishAndReleaseAll);
    loop.finishAndReleaseAll();
  }

  @Test
  void anOriginThatAllowsNoStreamGetsNoFurtherConnectionAndFailsWithTheTimeout() {
    await();
    receive(SETTINGS + "\0");
    assertThat(dialed).hasSize(1);
    pass(CONNECT_TIMEOUT.minusMillis(1));
    assertThat(refused).isNull();
    pass(Duration.ofMillis(1));
    assertThat(refused().kind()).isEqualTo(ErrorType.HTTP_PROTOCOL_ERROR);
    assertThat(refused().reason()).contains("allowed no request");
    assertThat(dialed).hasSize(1);
  }

  @Test
  void itsRequestsGoOnceItAllowsSome() {
    await();
    receive(SETTINGS + "\0");
    assertThat(lent).isNull();
    receive(SETTINGS + "\2");
    assertThat(lent).isNotNull();
    pass(CONNECT_TIMEOUT);
    assertThat(refused).isNull();
    assertThat(dialed).hasSize(1);
  }

  @Test
  void anOriginThatGoesAwayInsteadFailsAtOnce() {
    await();
    receive(SETTINGS + "\0" + GOAWAY);
    assertThat(refused().reason()).contains("takes no requests");
    assertThat(dialed).hasSize(1);
  }

  private Failure refused() {
    return Objects.requireNonNull(refused, "not refused");
  }

  private ConnectionPool<RequestConnection> pool() {
    var registry = new MetricRegistry();
    var connections = MetricDescriptor.counter("kamille_test_total", "Connections.");
    var lines =
        new H2Lines(
            "origin",
            false,
            ConnectionSettings.DEFAULTS,
            new RequestHeadWriter(ForwardingSettings.DEFAULTS, new HeadWriter()),
            new ResponseSink(),
            new HpackWriter(),
            clock::nanos);
    return new ConnectionPool<>(
        "origin",
        PoolSettings.DEFAULTS,
        asked -> dial(lines, asked),
        loop.eventLoop(),
        clock,
        1,
        Duration.ofSeconds(1).toNanos(),
        registry.counter(connections),
        registry.counter(connections));
  }

  private void dial(H2Lines lines, ConnectionPool<RequestConnection> asked) {
    EmbeddedChannel channel = new EmbeddedChannel();
    channel.freezeTime();
    dialed.add(channel);
    var opening = new Opening(asked);
    var connection = new H2OriginConnection(lines, () -> true, asked, opening);
    opening.connection = connection;
    channel.pipeline().addLast(connection.handler());
    connection.start(CONNECT_TIMEOUT);
  }

  private void await() {
    pool.await(
        new Waiter<>() {
          @Override
          public void lend(RequestConnection connection) {
            lent = connection;
          }

          @Override
          public void refuse(Failure why) {
            refused = why;
          }
        });
  }

  private void receive(String octets) {
    dialed.getFirst().writeInbound(Unpooled.copiedBuffer(octets, StandardCharsets.ISO_8859_1));
  }

  private void pass(Duration time) {
    dialed.getFirst().advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
    dialed.getFirst().runScheduledPendingTasks();
  }

  private static final class Opening implements H2OriginConnection.Opening {

    private final ConnectionPool<RequestConnection> pool;
    private @Nullable RequestConnection connection;

    Opening(ConnectionPool<RequestConnection> pool) {
      this.pool = pool;
    }

    @Override
    public void ready() {
      pool.dialed(Objects.requireNonNull(connection));
    }

    @Override
    public void failed(ErrorType kind, String reason) {
      pool.dialFailed(Failure.of(kind, reason));
    }
  }
}
