package io.kamille.core.origin.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.setting.Sections;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A pool through random days: gaps before, at and after each time, places that come and go, ends at
 * any moment. A small model says what must hold, at each step.
 */
class PoolLifeTest {

  private static final int STEPS = 6_000 + 200 * Integer.getInteger("kamille.life", 0);
  private static final long NEVER_NANOS = Duration.ofDays(1).toNanos();
  private static final int MOST = 6;
  private static final int MOST_IDLE = 2;
  private static final long IDLE_MILLIS = 4_000;
  private static final long QUEUE_MILLIS = 1_500;

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final ManualClock clock = ManualClock.atSeconds(0);
  private final MetricRegistry registry = new MetricRegistry();
  private final List<Line> open = new ArrayList<>();
  private final List<Line> lent = new ArrayList<>();
  private final List<Asking> waiting = new ArrayList<>();
  private final ConnectionPool<Line> pool =
      new ConnectionPool<>(
          "origin",
          Sections.copy(PoolSettings.DEFAULTS)
              .with("maxConnections", MOST)
              .with("maxWaiting", 2 * MOST)
              .with("queueTimeout", Duration.ofMillis(QUEUE_MILLIS))
              .with("maxIdle", MOST_IDLE)
              .with("idleTimeout", Duration.ofMillis(IDLE_MILLIS))
              .record(),
          _ -> dial(),
          channel.eventLoop(),
          clock,
          1,
          NEVER_NANOS,
          registry.counter(UpstreamMetrics.OPENED, "test", "origin"),
          registry.counter(UpstreamMetrics.CLOSED, "test", "origin"));

  private Random random = new Random(0);
  private int dials;
  private boolean isTicking;

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whatIsInUseStaysWhatIsIdleEndsAndNobodyWaitsForWhatIsThere(long seed) {
    random = new Random(seed + Long.getLong("kamille.life.seed", 0));
    for (int i = 0; i < STEPS; i++) {
      step();
      check();
    }
  }

  private void step() {
    switch (random.nextInt(11)) {
      case 0, 1, 2 -> ask();
      case 3, 4 -> giveBack();
      case 5, 6 -> dialed();
      case 7 -> passTime();
      case 8 -> tick();
      case 9 -> placesChange();
      default -> end();
    }
  }

  private void ask() {
    Line taken = pool.take(false);
    if (taken == null) {
      Asking asking = new Asking(clock.nanos());
      waiting.add(asking);
      pool.await(asking);
    } else {
      lend(taken);
    }
  }

  private void lend(Line line) {
    assertThat(open).as("what is lent is open").contains(line);
    line.inUse++;
    assertThat(line.inUse).as("within the places").isLessThanOrEqualTo(line.places);
    assertThat(line.isCurrent).isTrue();
    lent.add(line);
    assertThat(lent.size()).as("within the limit").isLessThanOrEqualTo(MOST);
  }

  private void giveBack() {
    if (!lent.isEmpty()) {
      Line line = lent.remove(random.nextInt(lent.size()));
      line.inUse--;
      line.usedNanos = clock.nanos();
      pool.release(line);
    }
  }

  private void dial() {
    dials++;
  }

  private void dialed() {
    if (dials == 0) {
      return;
    }
    dials--;
    if (random.nextInt(5) == 0) {
      pool.dialFailed(Failure.of(ErrorType.CONNECTION_REFUSED, "no"));
      return;
    }
    Line line = new Line();
    line.places = random.nextInt(4);
    line.usedNanos = clock.nanos();
    open.add(line);
    pool.dialed(line);
  }

  private void passTime() {
    long[] gaps = {
      1, QUEUE_MILLIS - 1, QUEUE_MILLIS, IDLE_MILLIS / 2, IDLE_MILLIS - 1, IDLE_MILLIS
    };
    clock.advance(Duration.ofMillis(gaps[random.nextInt(gaps.length)] + random.nextInt(2)));
  }

  private void tick() {
    isTicking = true;
    pool.tick();
    isTicking = false;
    for (Line line : open) {
      assertThat(line.inUse > 0 || line.idleMillis() < IDLE_MILLIS).as("idle ones end").isTrue();
    }
    for (Asking asking : waiting) {
      assertThat(clock.nanos() - asking.sinceNanos)
          .as("nobody waits longer")
          .isLessThan(Duration.ofMillis(QUEUE_MILLIS).toNanos());
    }
  }

  /** As SETTINGS and GOAWAY say. */
  private void placesChange() {
    if (!open.isEmpty()) {
      Line line = open.get(random.nextInt(open.size()));
      line.places = random.nextInt(4);
      if (random.nextInt(4) > 0) {
        pool.placesChanged(line);
      } else if (random.nextBoolean()) {
        line.isCurrent = false;
      }
    }
  }

  /** Its socket ends, which the pool is told at once or later. */
  private void end() {
    if (!open.isEmpty()) {
      Line line = open.get(random.nextInt(open.size()));
      if (line.hasEnded || random.nextBoolean()) {
        line.gone();
      } else {
        line.hasEnded = true;
      }
    }
  }

  /** As far as it has been told. */
  private void check() {
    assertThat(pool.lentCount()).isEqualTo(lent.size());
    assertThat(pool.openCount()).isEqualTo(open.size());
    assertThat(pool.waitingCount()).isEqualTo(waiting.size());
    long idle = open.stream().filter(line -> line.inUse == 0 && line.mayServe()).count();
    assertThat(idle).as("surplus is closed").isLessThanOrEqualTo(MOST_IDLE + MOST);
    if (!waiting.isEmpty()) {
      boolean mayLend = lent.size() + dials < MOST;
      assertThat(mayLend && idle > 0).as("one waits while one is idle").isFalse();
      assertThat(mayLend && dials == 0 && open.size() < MOST).as("nobody dials").isFalse();
    }
  }

  private final class Asking implements Waiter<Line> {

    private final long sinceNanos;

    Asking(long sinceNanos) {
      this.sinceNanos = sinceNanos;
    }

    @Override
    public void lend(Line connection) {
      assertThat(waiting.remove(this)).as("waits").isTrue();
      PoolLifeTest.this.lend(connection);
    }

    @Override
    public void refuse(Failure why) {
      assertThat(waiting.remove(this)).as("waits").isTrue();
    }
  }

  private final class Line extends PooledConnection<Line> {

    private int places;
    private int inUse;
    private long usedNanos;
    private boolean hasEnded;
    private boolean isCurrent = true;

    private long idleMillis() {
      return Duration.ofNanos(clock.nanos() - usedNanos).toMillis();
    }

    private boolean mayServe() {
      return places > inUse && isCurrent && !hasEnded;
    }

    private void gone() {
      open.remove(this);
      PoolLifeTest.this.lent.removeIf(line -> line.equals(this));
      inUse = 0;
      pool.forget(this);
    }

    @Override
    protected int places() {
      return places;
    }

    @Override
    protected void tick(long nowNanos) {
      assertThat(inUse).as("only what is lent has deadlines").isPositive();
    }

    @Override
    protected void caught(Throwable why) {
      throw new AssertionError(why);
    }

    @Override
    protected boolean isOpen() {
      return !hasEnded;
    }

    @Override
    protected boolean isCurrent() {
      return isCurrent;
    }

    @Override
    protected void close() {
      assertThat(inUse).as("what is in use is not closed").isZero();
      // Of those that have ended, the pool may not have heard.
      long idle = open.stream().filter(line -> line.inUse == 0).count();
      assertThat(!mayServe() || idle > MOST_IDLE || (isTicking && idleMillis() >= IDLE_MILLIS))
          .as("closed after %d ms", idleMillis())
          .isTrue();
      gone();
    }
  }
}
