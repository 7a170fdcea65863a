package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class DistributionTest {

  private static final int COUNT = 400_000;

  private final SplittableRandom random = new SplittableRandom(20_261_122);

  private static double[] draw(DoubleSupplier source) {
    return DoubleStream.generate(source).limit(COUNT).toArray();
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }

  private static double deviation(double[] values) {
    double mean = mean(values);
    return Math.sqrt(
        Arrays.stream(values).map(v -> (v - mean) * (v - mean)).average().orElseThrow());
  }

  @Test
  void exponentialHasAsMuchDeviationAsMean() {
    double[] values = draw(() -> Distribution.exponential(4500, random.nextDouble()));
    assertThat(mean(values)).isCloseTo(4500, within(45.0));
    assertThat(deviation(values)).isCloseTo(4500, within(60.0));
  }

  @Test
  void normalHasMeanZeroAndDeviationOne() {
    double[] values = draw(() -> Distribution.normal(random.nextDouble(), random.nextDouble()));
    assertThat(mean(values)).isCloseTo(0, within(0.01));
    assertThat(deviation(values)).isCloseTo(1, within(0.01));
  }

  @Test
  void logNormalHasTheMeanAndDeviationThatAreAskedFor() {
    double[] values =
        draw(() -> Distribution.logNormal(25, 10, random.nextDouble(), random.nextDouble()));
    assertThat(mean(values)).isCloseTo(25, within(0.2));
    assertThat(deviation(values)).isCloseTo(10, within(0.2));
  }

  @Test
  void zipfGivesEachNumberInInverseProportionToItself() {
    var zipf = new Distribution.Zipf(13);
    double[] values = draw(() -> zipf.value(random.nextDouble()));
    assertThat(mean(values)).isCloseTo(zipf.mean(), within(0.03));
    assertThat(zipf.mean()).isCloseTo(4.088, within(0.001));
    double ones = Arrays.stream(values).filter(value -> value == 1).count();
    double tens = Arrays.stream(values).filter(value -> value == 10).count();
    assertThat(ones / tens).isCloseTo(10, within(0.5));
    assertThat(values).doesNotContain(0, 14);
  }

  @Test
  void theEndsOfTheShareAreValues() {
    double most = Math.nextDown(1.0);
    assertThat(new Distribution.Zipf(13).value(0)).isEqualTo(1);
    assertThat(new Distribution.Zipf(13).value(most)).isEqualTo(13);
    assertThat(Distribution.exponential(1, most)).isFinite();
    assertThat(Distribution.exponential(1, 0)).isZero();
  }
}
