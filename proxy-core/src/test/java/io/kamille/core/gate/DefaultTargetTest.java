package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** The default of {@code overload.target}: who keeps up never reaches it. */
class DefaultTargetTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final LongAdder shed = new LongAdder();
  private long polls;
  private long now;
  private final Shedder shedder =
      new Shedder(
          () -> polls,
          OverloadSettings.SECTION.defaults().target().toNanos(),
          OverloadLaw::new,
          shed,
          shed);

  /** A turn after a pause; at its end a miss is asked for. */
  private void turn(long lengthMillis, long pauseMillis) {
    now += pauseMillis * MILLI;
    polls++;
    shedder.read(now);
    now += lengthMillis * MILLI;
    shedder.read(now);
    if (!shedder.shedsAtOnce()) {
      shedder.shedsForward();
    }
  }

  private void turns(int count, long lengthMillis, long pauseMillis) {
    for (int i = 0; i < count; i++) {
      turn(lengthMillis, pauseMillis);
    }
  }

  @Test
  void aColdStartUnderFullLoadShedsNothing() {
    for (long lengthMillis = 180; lengthMillis > 0; lengthMillis -= 2) {
      turn(lengthMillis, 0);
    }
    assertThat(shed.sum()).isZero();
  }

  @Test
  void fullCollectionsShedNothing() {
    for (int i = 0; i < 20; i++) {
      turns(2, 800, 0);
      turns(5, 20, 1);
    }
    assertThat(shed.sum()).isZero();
  }

  @Test
  void whatQueuedDuringAPauseOfTwoSecondsIsAnsweredAtHalfLoad() {
    turns(10, 1, 10);
    for (long lengthMillis = 1000; lengthMillis > 0; lengthMillis /= 2) {
      turn(lengthMillis, 0);
    }
    turns(100, 1, 10);
    assertThat(shed.sum()).isZero();
  }

  @Test
  void aQueueThatStandsForSecondsIsShed() {
    turns(20, 400, 0);
    assertThat(shed.sum()).isPositive();
  }

  @Test
  void overloadDoesNotLetAnyRequestWaitForLongerThanTheTarget() {
    turns(20, 400, 0);
    polls++;
    shedder.read(now);
    shedder.read(now + 200 * MILLI);
    assertThat(shedder.shedsAtOnce()).isFalse();
    shedder.read(now + 201 * MILLI);
    assertThat(shedder.shedsAtOnce()).isTrue();
  }
}
