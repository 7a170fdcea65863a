package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SurgeMixTest {

  private static final int COUNT = 200_000;

  private final SurgeMix mix = new SurgeMix(7);

  @Test
  void lengthsHaveALogNormalBodyAndAParetoTail() {
    int[] lengths = IntStream.generate(mix::length).limit(COUNT).sorted().toArray();
    // The median of the whole is the 0.5 / 0.93 quantile of the body, but for its part in the tail.
    assertThat(Math.log(lengths[COUNT / 2])).isCloseTo(9.357 + 1.318 * 0.09, within(0.05));
    double tail = Arrays.stream(lengths).filter(length -> length > 1_330_000).count();
    assertThat(tail / COUNT).isCloseTo(0.07 * Math.pow(10, -1.1), within(0.0008));
  }

  @Test
  void pagesHaveAsManyObjectsAsTheParetoDistributionSays() {
    int[] objects = IntStream.generate(mix::objectsOfPage).limit(COUNT).toArray();
    double single = Arrays.stream(objects).filter(count -> count == 1).count();
    assertThat(single / COUNT).isCloseTo(1 - Math.pow(2, -2.43), within(0.005));
    assertThat(Arrays.stream(objects).min()).hasValue(1);
  }

  @Test
  void pausesBetweenPagesAreASecondAtLeast() {
    for (int i = 0; i < 1000; i++) {
      assertThat(mix.inactiveOffSeconds()).isGreaterThanOrEqualTo(1);
      assertThat(mix.activeOffSeconds()).isGreaterThanOrEqualTo(0);
    }
  }

  @Test
  void theSeedDecidesEveryDraw() {
    int[] mine = IntStream.generate(new SurgeMix(3)::length).limit(100).toArray();
    assertThat(IntStream.generate(new SurgeMix(3)::length).limit(100).toArray()).isEqualTo(mine);
    assertThat(IntStream.generate(new SurgeMix(4)::length).limit(100).toArray()).isNotEqualTo(mine);
  }
}
