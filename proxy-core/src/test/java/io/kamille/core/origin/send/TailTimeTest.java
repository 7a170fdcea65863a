package io.kamille.core.origin.send;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TailTimeTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final SplittableRandom random = new SplittableRandom(7);
  private final TailTime tail = new TailTime();

  @Test
  void nothingIsKnownAtFirst() {
    assertThat(tail.nanos()).isZero();
  }

  @Test
  void oneInTwentyTakesLonger() {
    samples(2_000, 10);
    assertThat(shareOver(20_000, 10)).isBetween(0.03, 0.07);
  }

  @Test
  void itFollowsAnUpstreamThatGetsSlowerAndFaster() {
    samples(2_000, 10);
    samples(500, 100);
    assertThat(shareOver(5_000, 100)).isBetween(0.03, 0.07);
    samples(2_000, 10);
    assertThat(shareOver(5_000, 10)).isBetween(0.03, 0.07);
  }

  @Test
  void whatNobodyWaitedForCountsAsLonger() {
    tail.sample(10 * MILLI);
    long before = tail.nanos();
    tail.late();
    assertThat(tail.nanos()).isGreaterThan(before);
    for (int i = 0; i < 1_000; i++) {
      tail.late();
    }
    assertThat(tail.nanos()).isEqualTo(TimeUnit.MINUTES.toNanos(1));
  }

  private void samples(int count, long meanMillis) {
    for (int i = 0; i < count; i++) {
      tail.sample(time(meanMillis));
    }
  }

  private double shareOver(int count, long meanMillis) {
    int over = 0;
    for (int i = 0; i < count; i++) {
      long time = time(meanMillis);
      over += time > tail.nanos() ? 1 : 0;
      tail.sample(time);
    }
    return (double) over / count;
  }

  /** Exponential, as times of independent work are. */
  private long time(long meanMillis) {
    return 2 * MILLI + (long) (-Math.log(1 - random.nextDouble()) * meanMillis * MILLI);
  }
}
