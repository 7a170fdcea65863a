package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ArrivalsTest {

  private static final long SEED = 20_261_121;
  private static final RateSchedule STEADY = RateSchedule.steady(10_000, Duration.ofSeconds(20));

  private static long[] all(Arrivals arrivals) {
    return LongStream.iterate(
            arrivals.next(), nanos -> nanos != Arrivals.NONE, n -> arrivals.next())
        .toArray();
  }

  private static double[] gaps(long[] instants) {
    double[] gaps = new double[instants.length - 1];
    Arrays.setAll(gaps, i -> instants[i + 1] - instants[i]);
    return gaps;
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }

  private static double variance(double[] values) {
    double mean = mean(values);
    return Arrays.stream(values)
        .map(value -> (value - mean) * (value - mean))
        .average()
        .orElseThrow();
  }

  /** How many instants lie in each stretch of that length. */
  private static double[] counts(long[] instants, long stretchNanos, long durationNanos) {
    double[] counts = new double[(int) (durationNanos / stretchNanos)];
    Arrays.stream(instants).forEach(instant -> counts[(int) (instant / stretchNanos)]++);
    return counts;
  }

  @Test
  void evenArrivalsHaveEqualGaps() {
    var arrivals = Arrivals.even(RateSchedule.steady(1000, Duration.ofMillis(4)));
    assertThat(all(arrivals)).containsExactly(0, 1_000_000, 2_000_000, 3_000_000);
  }

  @Test
  void poissonGapsHaveTheMomentsOfTheExponentialDistribution() {
    double[] gaps = gaps(all(Arrivals.poisson(STEADY, SEED)));
    double mean = mean(gaps);
    assertThat(mean).isCloseTo(100_000, within(1_000.0));
    assertThat(variance(gaps) / (mean * mean)).isCloseTo(1, within(0.03));
    double skew =
        Arrays.stream(gaps).map(gap -> Math.pow(gap / mean - 1, 3)).average().orElseThrow();
    assertThat(skew).isCloseTo(2, within(0.15));
    double shortOnes = Arrays.stream(gaps).filter(gap -> gap < mean).count();
    assertThat(shortOnes / gaps.length).isCloseTo(1 - Math.exp(-1), within(0.01));
  }

  @Test
  void poissonCountsVaryByTheirMean() {
    long[] instants = all(Arrivals.poisson(STEADY, SEED));
    double[] counts = counts(instants, 5_000_000, STEADY.durationNanos());
    assertThat(mean(counts)).isCloseTo(50, within(0.5));
    assertThat(variance(counts) / mean(counts)).isCloseTo(1, within(0.06));
  }

  @Test
  void gapsDoNotTellOfTheNextOnes() {
    double[] gaps = gaps(all(Arrivals.poisson(STEADY, SEED)));
    double mean = mean(gaps);
    double sum = 0;
    for (int i = 1; i < gaps.length; i++) {
      sum += (gaps[i - 1] - mean) * (gaps[i] - mean);
    }
    assertThat(sum / gaps.length / variance(gaps)).isCloseTo(0, within(0.01));
  }

  @Test
  void theSeedDecidesEveryInstant() {
    long[] instants = all(Arrivals.poisson(STEADY, SEED));
    assertThat(all(Arrivals.poisson(STEADY, SEED))).isEqualTo(instants);
    assertThat(all(Arrivals.poisson(STEADY, SEED + 1))).isNotEqualTo(instants);
  }

  @Test
  void stepsAndRampsBringAsManyAsTheirAreaSays() {
    var schedule =
        RateSchedule.steady(1000, Duration.ofSeconds(1))
            .step(60_000, Duration.ofSeconds(1))
            .ramp(0, Duration.ofSeconds(2));
    long[] instants = all(Arrivals.poisson(schedule, SEED));
    double[] counts = counts(instants, 1_000_000_000, schedule.durationNanos());
    assertThat(instants).isSorted();
    assertThat(counts[0]).isCloseTo(1000, within(100.0));
    assertThat(counts[1]).isCloseTo(60_000, within(750.0));
    assertThat(counts[2]).isCloseTo(45_000, within(650.0));
    assertThat(counts[3]).isCloseTo(15_000, within(400.0));
  }
}
