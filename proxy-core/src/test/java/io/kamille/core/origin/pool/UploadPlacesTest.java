package io.kamille.core.origin.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.setting.Sections;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests whose content is still to come leave connections to those that have none. */
class UploadPlacesTest {

  private static final Duration QUEUE_TIMEOUT = Duration.ofSeconds(5);
  private static final long NEVER_NANOS = Duration.ofHours(1).toNanos();

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final ManualClock clock = ManualClock.atSeconds(0);
  private final MetricRegistry registry = new MetricRegistry();
  private final Queue<Runnable> dials = new ArrayDeque<>();
  private boolean dialsByHand;

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 1", "3, 2", "4, 3", "5, 3", "8, 6", "512, 384"})
  void uploadsGetThreeQuartersOfTheConnectionsButOneAtLeast(int connections, int uploads) {
    var pool = pool(connections, 1024);
    List<Asking> asking = ask(pool, connections, true);
    assertThat(asking).filteredOn(Asking::isLent).hasSize(uploads);
    assertThat(pool.waitingCount()).isEqualTo(connections - uploads);
    List<Asking> others = ask(pool, connections - uploads, false);
    assertThat(others).as("without content").allMatch(Asking::isLent);
  }

  @Test
  void anUploadThatEndsLetsTheNextBeginWhileItsConnectionIsStillLent() {
    var pool = pool(4, 1024);
    List<Asking> uploads = ask(pool, 4, true);
    assertThat(uploads.get(3).isLent()).isFalse();
    uploads.get(0).uploaded();
    assertThat(uploads.get(3).isLent()).isTrue();
    assertThat(pool.openCount()).isEqualTo(4);
  }

  @Test
  void anUploadThatEndsLetsTheNextBeginOnAnIdleConnection() {
    var pool = pool(4, 1024);
    Asking first = ask(pool, false);
    List<Asking> uploads = ask(pool, 4, true);
    first.release();
    assertThat(pool.idleCount()).as("not for one more upload").isEqualTo(1);
    assertThat(uploads.get(3).isLent()).isFalse();
    uploads.get(1).uploaded();
    assertThat(uploads.get(3).isLent()).isTrue();
    assertThat(pool.idleCount()).isZero();
  }

  @Test
  void anUploadWhoseConnectionBreaksLetsTheNextBegin() {
    var pool = pool(4, 1024);
    List<Asking> uploads = ask(pool, 5, true);
    uploads.get(2).uploaded();
    uploads.get(2).forget();
    assertThat(uploads.get(3).isLent()).isTrue();
    assertThat(uploads.get(4).isLent()).isFalse();
    assertThat(pool.openCount()).isEqualTo(3);
  }

  @Test
  void oneAfterTheOtherGetsTheOnlyConnection() {
    var pool = pool(1, 1024);
    List<Asking> uploads = ask(pool, 3, true);
    for (Asking upload : uploads) {
      assertThat(upload.isLent()).isTrue();
      upload.uploaded();
      upload.release();
    }
    assertThat(pool.openCount()).isEqualTo(1);
  }

  @Test
  void whoHasNoContentPassesUploadsThatWait() {
    var pool = pool(4, 1024);
    ask(pool, 6, true);
    Asking fourth = ask(pool, false);
    assertThat(fourth.isLent()).isTrue();
    Asking fifth = ask(pool, false);
    assertThat(fifth.isLent()).as("all four are lent").isFalse();
    fourth.release();
    assertThat(fifth.isLent()).isTrue();
    fifth.release();
    assertThat(pool.idleCount()).isEqualTo(1);
    assertThat(ask(pool, false).isLent()).as("on the idle one").isTrue();
  }

  @Test
  void uploadsThatHaveAPlaceKeepTheOrderOfTheLine() {
    var pool = pool(2, 1024);
    List<Asking> lent = ask(pool, 2, false);
    Asking upload = ask(pool, true);
    clock.advance(Duration.ofNanos(1));
    Asking other = ask(pool, false);
    lent.get(0).release();
    assertThat(upload.isLent()).isTrue();
    assertThat(other.isLent()).isFalse();
  }

  @Test
  void noConnectionIsOpenedForAnUploadThatHasNoPlace() {
    dialsByHand = true;
    var pool = pool(4, 1024);
    List<Asking> uploads = ask(pool, 5, true);
    assertThat(dials).hasSize(3);
    Asking other = ask(pool, false);
    assertThat(dials).hasSize(4);
    while (!dials.isEmpty()) {
      dials.remove().run();
    }
    assertThat(uploads).filteredOn(Asking::isLent).hasSize(3);
    assertThat(other.isLent()).isTrue();
  }

  @Test
  void whatWasOpenedForOneThatIsServedAlreadyStaysForOthers() {
    dialsByHand = true;
    var pool = pool(2, 1024);
    Asking first = ask(pool, true);
    dials.remove().run();
    Asking second = ask(pool, false);
    Asking third = ask(pool, true);
    second.leave();
    dials.remove().run();
    assertThat(third.isLent()).as("there is one place for uploads").isFalse();
    assertThat(pool.idleCount()).isEqualTo(1);
    first.uploaded();
    assertThat(third.isLent()).isTrue();
  }

  @Test
  void anUploadTakesNoPlaceFromOneThatWaits() {
    dialsByHand = true;
    var pool = pool(2, 1024);
    Asking other = ask(pool, false);
    dials.remove().run();
    other.release();
    Asking first = new Asking(pool, true);
    pool.await(first);
    Asking second = ask(pool, true);
    assertThat(second.isLent()).isFalse();
    dials.remove().run();
    assertThat(first.isLent()).isTrue();
  }

  @Test
  void anUploadTakesAnIdleConnectionIfThereIsAPlace() {
    var pool = pool(4, 1024);
    List<Asking> uploads = ask(pool, 3, true);
    Asking other = ask(pool, false);
    other.release();
    uploads.get(0).uploaded();
    uploads.get(0).release();
    assertThat(pool.idleCount()).isEqualTo(2);
    assertThat(ask(pool, true).isLent()).isTrue();
    assertThat(ask(pool, true).isLent()).isFalse();
  }

  @Test
  void uploadsWaitNoLongerThanOthers() {
    var pool = pool(4, 1024);
    List<Asking> uploads = ask(pool, 4, true);
    clock.advance(QUEUE_TIMEOUT.minusNanos(1));
    pool.tick();
    assertThat(uploads.get(3).refusal).isNull();
    clock.advance(Duration.ofNanos(1));
    pool.tick();
    assertThat(uploads.get(3).refusal)
        .extracting(Failure::kind, Failure::status)
        .containsExactly(Failure.ErrorType.CONNECTION_LIMIT_REACHED, 503);
    assertThat(pool.waitingCount()).isZero();
  }

  @Test
  void uploadsGetThreeQuartersOfTheLine() {
    var pool = pool(4, 8);
    List<Asking> uploads = ask(pool, 3 + 7, true);
    assertThat(uploads).filteredOn(asking -> asking.refusal != null).hasSize(1);
    List<Asking> others = ask(pool, 1 + 3, false);
    assertThat(others).filteredOn(asking -> asking.refusal != null).hasSize(1);
    assertThat(pool.waitingCount()).isEqualTo(8);
  }

  @Test
  void anUploadThatLeavesTheLineTakesNoPlace() {
    var pool = pool(4, 1024);
    List<Asking> uploads = ask(pool, 5, true);
    uploads.get(3).leave();
    uploads.get(0).uploaded();
    assertThat(uploads.get(3).isLent()).isFalse();
    assertThat(uploads.get(4).isLent()).isTrue();
  }

  /** Small content has come by the time it is sent; a thousand such in line is a deep stack. */
  @Test
  void uploadsThatEndAtOnceServeTheWholeLine() {
    var pool = pool(40_000, 40_000);
    List<Asking> others = ask(pool, 10_000, false);
    List<Asking> uploads = ask(pool, 30_000, true);
    List<Asking> waiting = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      Asking quick = new Asking(pool, true);
      quick.endsAtOnce = true;
      pool.await(quick);
      waiting.add(quick);
    }
    others.forEach(Asking::release);
    assertThat(pool.idleCount()).isEqualTo(10_000);
    uploads.getFirst().uploaded();
    assertThat(waiting).allMatch(Asking::isLent);
  }

  private ConnectionPool<Line> pool(int maxConnections, int maxWaiting) {
    return new ConnectionPool<>(
        "origin",
        Sections.copy(PoolSettings.DEFAULTS)
            .with("maxConnections", maxConnections)
            .with("maxWaiting", maxWaiting)
            .with("queueTimeout", QUEUE_TIMEOUT)
            .with("maxIdle", maxConnections)
            .with("idleTimeout", Duration.ofMinutes(1))
            .record(),
        pool -> {
          if (dialsByHand) {
            dials.add(() -> pool.dialed(new Line(pool)));
          } else {
            pool.dialed(new Line(pool));
          }
        },
        channel.eventLoop(),
        clock,
        1,
        NEVER_NANOS,
        registry.counter(UpstreamMetrics.OPENED, "test", "origin"),
        registry.counter(UpstreamMetrics.CLOSED, "test", "origin"));
  }

  private static List<Asking> ask(ConnectionPool<Line> pool, int times, boolean isUpload) {
    List<Asking> asking = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      asking.add(ask(pool, isUpload));
    }
    return asking;
  }

  private static Asking ask(ConnectionPool<Line> pool, boolean isUpload) {
    Asking asking = new Asking(pool, isUpload);
    Line idle = pool.take(isUpload);
    if (idle == null) {
      pool.await(asking);
    } else {
      asking.lend(idle);
    }
    return asking;
  }

  private static final class Asking implements Waiter<Line> {

    private final ConnectionPool<Line> pool;
    private final boolean isUpload;
    private boolean endsAtOnce;
    private @Nullable Line line;
    private @Nullable Failure refusal;

    Asking(ConnectionPool<Line> pool, boolean isUpload) {
      this.pool = pool;
      this.isUpload = isUpload;
    }

    boolean isLent() {
      return line != null;
    }

    void uploaded() {
      pool.uploaded();
    }

    void release() {
      pool.release(line());
    }

    void forget() {
      pool.forget(line());
    }

    void leave() {
      pool.leave(this);
    }

    private Line line() {
      if (line == null) {
        throw new AssertionError("not lent");
      }
      return line;
    }

    @Override
    public boolean isUpload() {
      return isUpload;
    }

    @Override
    public void lend(Line connection) {
      line = connection;
      if (endsAtOnce) {
        pool.uploaded();
      }
    }

    @Override
    public void refuse(Failure why) {
      refusal = why;
    }
  }

  private static final class Line extends PooledConnection<Line> {

    private final ConnectionPool<Line> pool;

    Line(ConnectionPool<Line> pool) {
      this.pool = pool;
    }

    @Override
    protected void tick(long nowNanos) {}

    @Override
    protected void caught(Throwable fault) {
      throw new AssertionError(fault);
    }

    @Override
    protected boolean isOpen() {
      return true;
    }

    @Override
    protected boolean isCurrent() {
      return true;
    }

    @Override
    protected void close() {
      pool.forget(this);
    }
  }
}
