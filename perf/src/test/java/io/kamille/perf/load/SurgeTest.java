package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SurgeTest {

  /** The median of the body is exp(9.357), 11.6 kB; the tail is 7 % and begins at 133 kB. */
  @Test
  void lengthsAreThoseOfThePaper() {
    int[] lengths = IntStream.rangeClosed(1, 2000).map(Surge::length).sorted().toArray();
    assertThat(lengths[1000]).isBetween(10_000, 14_500);
    long inTail = IntStream.of(lengths).filter(length -> length >= 133_000).count();
    assertThat(inTail / 2000.0).isBetween(0.06, 0.13);
    assertThat(lengths[1999]).isLessThanOrEqualTo(4 << 20);
  }

  @Test
  void equalSeedsDrawEqualRequests() {
    var one = new Surge(7);
    var other = new Surge(7);
    for (int i = 0; i < 100; i++) {
      assertThat(one.next().text()).isEqualTo(other.next().text());
      assertThat(one.pause()).isEqualTo(other.pause());
    }
  }
}
