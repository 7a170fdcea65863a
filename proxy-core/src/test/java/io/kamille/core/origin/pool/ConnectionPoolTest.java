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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is lent and what waits, and the look at all of them. */
class ConnectionPoolTest {

  private static final long NEVER_NANOS = Duration.ofHours(1).toNanos();

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final ManualClock clock = ManualClock.atSeconds(0);
  private final MetricRegistry registry = new MetricRegistry();
  private ConnectionPool<Line> pool = poolOf(PoolSettings.DEFAULTS.maxConnections());
  private final List<Line> lent = new ArrayList<>();
  private boolean isCurrent = true;
  private int places = 1;

  private ConnectionPool<Line> poolOf(int maxConnections) {
    return new ConnectionPool<>(
        "origin",
        Sections.copy(PoolSettings.DEFAULTS).with("maxConnections", maxConnections).record(),
        pool -> pool.dialed(new Line()),
        channel.eventLoop(),
        clock,
        1,
        NEVER_NANOS,
        registry.counter(UpstreamMetrics.OPENED, "test", "origin"),
        registry.counter(UpstreamMetrics.CLOSED, "test", "origin"));
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  @Test
  void whatIsBeyondTheLimitWaits() {
    pool = poolOf(2);
    ask(3);
    assertThat(lent).hasSize(2);
    assertThat(pool.waitingCount()).isEqualTo(1);
  }

  @Test
  void whatComesBackServesTheLine() {
    pool = poolOf(2);
    ask(3);
    pool.release(lent.getFirst());
    assertThat(lent).hasSize(3);
    assertThat(pool.openCount()).isEqualTo(2);
    assertThat(pool.waitingCount()).isZero();
  }

  @Test
  void whoWantsANewConnectionGetsAnIdleOneIfNoMoreMayBeOpen() {
    int most = PoolSettings.DEFAULTS.maxConnections();
    ask(most);
    pool.release(lent.getFirst());
    pool.await(new Asking());
    assertThat(pool.openCount()).isEqualTo(most);
    assertThat(pool.waitingCount()).isZero();
    assertThat(lent).hasSize(most + 1);
  }

  @Test
  void aConnectionThatClosesMakesRoomWithinTheLimit() {
    pool = poolOf(1);
    ask(2);
    pool.forget(lent.getFirst());
    assertThat(lent).hasSize(2);
    assertThat(pool.openCount()).isEqualTo(1);
  }

  @Test
  void oneConnectionAwaitsTheFirstRequestIfToldSo() {
    pool.warm();
    pool.warm();
    assertThat(pool.idleCount()).isEqualTo(1);
    ask(1);
    assertThat(pool.openCount()).isEqualTo(1);
  }

  @Test
  void idleConnectionsToAnAddressThatHasGoneAreClosedAtTheNextTick() {
    ask(3);
    pool.release(lent.get(0));
    pool.release(lent.get(1));
    isCurrent = false;
    pool.tick();
    assertThat(pool.idleCount()).isZero();
    assertThat(pool.openCount()).as("the one that is lent").isEqualTo(1);
  }

  @Test
  void anIdleConnectionToAnAddressThatHasGoneIsNotLent() {
    ask(2);
    pool.release(lent.get(0));
    pool.release(lent.get(1));
    isCurrent = false;
    assertThat(pool.take(false)).isNull();
    assertThat(pool.openCount()).isZero();
  }

  @Test
  void aLentConnectionToAnAddressThatHasGoneIsClosedWhenItComesBackAndTheLineGetsANewOne() {
    pool = poolOf(1);
    ask(2);
    isCurrent = false;
    pool.release(lent.getFirst());
    assertThat(lent).hasSize(2).doesNotHaveDuplicates();
    assertThat(pool.openCount()).isEqualTo(1);
  }

  @Test
  void aFaultOfOneConnectionKeepsNoOtherFromBeingLookedAt() {
    ask(3);
    lent.get(1).fault = new IllegalStateException("a fault");
    pool.tick();
    assertThat(lent).extracting(line -> line.ticks).containsExactly(1, 1, 1);
    assertThat(pool.openCount()).as("the one at fault is closed").isEqualTo(2);
  }

  @Test
  void ticksGoOnWhateverComesOfOne() {
    ask(1);
    Line line = lent.getFirst();
    line.fault = new IllegalStateException("a fault");
    line.isStubborn = true;
    for (int ticks = 1; ticks <= 3; ticks++) {
      channel.advanceTimeBy(NEVER_NANOS, TimeUnit.NANOSECONDS);
      channel.runScheduledPendingTasks();
      assertThat(line.ticks).isEqualTo(ticks);
    }
  }

  /** Who is refused may do something that fails. */
  @Test
  void aFaultOfOneThatWaitsKeepsNoOtherFromBeingRefusedInTime() {
    pool = poolOf(1);
    ask(1);
    List<Failure> refused = new ArrayList<>();
    pool.await(
        new Asking() {
          @Override
          public void refuse(Failure why) {
            throw new IllegalStateException("a fault");
          }
        });
    pool.await(
        new Asking() {
          @Override
          public void refuse(Failure why) {
            refused.add(why);
          }
        });
    clock.advance(PoolSettings.DEFAULTS.queueTimeout());
    for (int ticks = 0; ticks < 2; ticks++) {
      channel.advanceTimeBy(NEVER_NANOS, TimeUnit.NANOSECONDS);
      channel.runScheduledPendingTasks();
    }
    assertThat(refused).hasSize(1);
    assertThat(pool.waitingCount()).isZero();
  }

  @Test
  void aConnectionWithPlacesIsLentUntilTheyAreTakenAndServesTheLine() {
    places = 3;
    ask(4);
    assertThat(lent).hasSize(4);
    assertThat(pool.openCount()).isEqualTo(2);
    assertThat(pool.lentCount()).isEqualTo(4);
    assertThat(lent.subList(0, 3)).containsOnly(lent.getFirst());
    pool.release(lent.getFirst());
    assertThat(pool.idleCount()).isZero();
    pool.release(lent.getLast());
    assertThat(pool.idleCount()).isEqualTo(1);
    ask(1);
    assertThat(lent.getLast()).as("before the idle one").isSameAs(lent.getFirst());
  }

  @Test
  void aConnectionThatGoesTakesItsPlacesAlong() {
    places = 3;
    pool = poolOf(3);
    ask(4);
    assertThat(pool.waitingCount()).isEqualTo(1);
    lent.getFirst().close();
    assertThat(pool.lentCount()).isEqualTo(1);
    assertThat(pool.waitingCount()).isZero();
    assertThat(lent.getLast()).isNotSameAs(lent.getFirst());
  }

  @Test
  void aConnectionThatTakesNoMoreIsClosedWithItsLastRequest() {
    places = 2;
    ask(2);
    places = 0;
    pool.placesChanged(lent.getFirst());
    pool.release(lent.getFirst());
    assertThat(pool.openCount()).isEqualTo(1);
    pool.release(lent.getFirst());
    assertThat(pool.openCount()).isZero();
  }

  @Test
  void whatIsLentAgainIsNotClosedAsIdle() {
    places = 3;
    ask(1);
    pool.release(lent.getFirst());
    ask(1);
    clock.advance(PoolSettings.DEFAULTS.idleTimeout());
    pool.tick();
    assertThat(pool.openCount()).isEqualTo(1);
    assertThat(lent.getFirst().ticks).as("looked at as one in use").isEqualTo(1);
  }

  @Test
  void whatIsIdleEndsThatLongAfterItsLastUse() {
    places = 3;
    ask(2);
    pool.release(lent.getFirst());
    clock.advance(PoolSettings.DEFAULTS.idleTimeout());
    pool.release(lent.getFirst());
    clock.advance(PoolSettings.DEFAULTS.idleTimeout().minusMillis(1));
    pool.tick();
    assertThat(pool.openCount()).isEqualTo(1);
    clock.advance(Duration.ofMillis(1));
    pool.tick();
    assertThat(pool.openCount()).isZero();
  }

  @Test
  void anIdleConnectionThatTakesNoMoreIsNotLent() {
    places = 2;
    ask(1);
    pool.release(lent.getFirst());
    places = 0;
    assertThat(pool.take(false)).isNull();
  }

  /** As within GOAWAY: requests are refused, and sent again, before the pool is told. */
  @Test
  void aConnectionInUseThatTakesNoMoreIsNotLentBeforeThePoolIsTold() {
    places = 2;
    ask(1);
    pool.release(lent.getFirst());
    ask(1);
    places = 0;
    assertThat(pool.take(false)).isNull();
    assertThat(pool.openCount()).as("it carries a request").isEqualTo(1);
  }

  private void ask(int times) {
    for (int i = 0; i < times; i++) {
      Line idle = pool.take(false);
      if (idle != null) {
        lent.add(idle);
      } else {
        pool.await(new Asking());
      }
    }
  }

  private class Asking implements Waiter<Line> {

    @Override
    public void lend(Line connection) {
      lent.add(connection);
    }

    @Override
    public void refuse(Failure why) {
      throw new AssertionError(why);
    }
  }

  private final class Line extends PooledConnection<Line> {

    private int ticks;
    private boolean isStubborn;
    private @Nullable RuntimeException fault;

    @Override
    protected int places() {
      return places;
    }

    @Override
    protected void tick(long nowNanos) {
      ticks++;
      if (fault != null) {
        throw fault;
      }
    }

    @Override
    protected void caught(Throwable why) {
      assertThat(why).isSameAs(fault);
      if (isStubborn) {
        throw new IllegalStateException("another fault");
      }
      pool.forget(this);
    }

    @Override
    protected boolean isOpen() {
      return true;
    }

    @Override
    protected boolean isCurrent() {
      return isCurrent;
    }

    @Override
    protected void close() {
      pool.forget(this);
    }
  }
}
