package io.kamille.perf.wan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PathDirectionTest {

  private static final int PACKET = 1500;
  private static final long MILLI = 1_000_000;
  private static final int MANY = 200_000;

  private static PathDirection path(String settings) {
    return new PathDirection(PathSettings.NONE.with(settings), 1);
  }

  @Test
  void aPacketComesOutAfterTheDelay() {
    assertThat(path("delay=25ms").admit(7, PACKET)).isEqualTo(25 * MILLI + 7);
  }

  @Test
  void packetsLeaveATransmitterOneAfterTheOther() {
    PathDirection path = path("rate=12mbit delay=1ms");
    assertThat(path.admit(0, PACKET)).isEqualTo(2 * MILLI);
    assertThat(path.admit(0, PACKET)).isEqualTo(3 * MILLI);
    assertThat(path.admit(10 * MILLI, PACKET)).isEqualTo(12 * MILLI);
  }

  @Test
  void theRateHoldsOverManyPackets() {
    PathDirection path = path("rate=100mbit queue=1500000000");
    long last = 0;
    for (int i = 0; i < MANY; i++) {
      last = path.admit(0, PACKET);
    }
    assertThat(8e3 * MANY * PACKET / last).isCloseTo(100, within(0.01));
  }

  @Test
  void aFullQueueDropsWhatComesLast() {
    PathDirection path = path("rate=12mbit queue=4500");
    List<Boolean> lost = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      lost.add(path.admit(0, PACKET) == PathDirection.LOST);
    }
    assertThat(lost).containsExactly(false, false, false, true, true);
    assertThat(path.overflowed()).isEqualTo(2);
    assertThat(path.admit(MILLI, PACKET)).as("one has left").isEqualTo(4 * MILLI);
  }

  @Test
  void withoutASizeAQueueHoldsWhatIsUnderWayThereAndBack() {
    assertThat(PathSettings.NONE.with("rate=80mbit delay=50ms").queueLimitBytes())
        .isEqualTo(1_000_000);
    assertThat(PathSettings.NONE.with("rate=1mbit").queueLimitBytes()).isEqualTo(30_000);
  }

  @Test
  void jitterSpreadsPacketsEvenlyAndNeverReorders() {
    PathDirection path = path("delay=10ms jitter=4ms");
    long last = 0;
    double sum = 0;
    for (int i = 0; i < MANY; i++) {
      long now = 10 * MILLI * i;
      long due = path.admit(now, PACKET);
      assertThat(due).isGreaterThanOrEqualTo(last).isBetween(now + 10 * MILLI, now + 14 * MILLI);
      last = due;
      sum += due - now;
    }
    assertThat(sum / MANY / MILLI).isCloseTo(12, within(0.02));
    PathDirection dense = path("delay=10ms jitter=4ms");
    long before = 0;
    for (int i = 0; i < MANY; i++) {
      long due = dense.admit(i, PACKET);
      assertThat(due).isGreaterThanOrEqualTo(before);
      before = due;
    }
  }

  @Test
  void asManyPacketsAreLostAsIsSet() {
    PathDirection path = path("loss=3%");
    lostOf(path);
    assertThat((double) path.lost() / path.offered()).isCloseTo(0.03, within(0.0015));
  }

  private static List<Boolean> lostOf(PathDirection path) {
    List<Boolean> lost = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      lost.add(path.admit(i, PACKET) == PathDirection.LOST);
    }
    return lost;
  }

  @Test
  void theSeedAloneDecidesWhichPacketsAreLostAtRandom() {
    PathDirection plain = path("loss=2%");
    assertThat(lostOf(plain)).isEqualTo(lostOf(path("loss=2%")));
    assertThat(lostOf(path("loss=2% jitter=1ms"))).isEqualTo(lostOf(path("loss=2%")));
    assertThat(lostOf(new PathDirection(PathSettings.NONE.with("loss=2%"), 2)))
        .isNotEqualTo(lostOf(path("loss=2%")));
  }
}
