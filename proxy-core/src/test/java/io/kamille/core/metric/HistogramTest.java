package io.kamille.core.metric;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HistogramTest {

  private final Histogram histogram = new Histogram();

  @Test
  void aBucketHoldsItsUpperBoundAndNotItsLowerOne() {
    for (int bucket = 0; bucket < Histogram.BUCKETS - 1; bucket++) {
      long bound = Histogram.upperBoundNanos(bucket);
      assertThat(Histogram.bucket(bound)).isEqualTo(bucket);
      assertThat(Histogram.bucket(bound + 1)).isEqualTo(bucket + 1);
    }
  }

  @Test
  void bucketsReachFromAMicrosecondToOverAHundredSeconds() {
    assertThat(Histogram.bucket(0)).isZero();
    assertThat(Histogram.bucket(1_000)).isZero();
    assertThat(Histogram.bucket(100_000_000_000L)).isLessThan(Histogram.BUCKETS - 1);
    assertThat(Histogram.bucket(Long.MAX_VALUE)).isEqualTo(Histogram.BUCKETS - 1);
  }

  @Test
  void aBucketIsAtMostAQuarterWide() {
    for (int bucket = 1; bucket < Histogram.BUCKETS - 1; bucket++) {
      long lower = Histogram.upperBoundNanos(bucket - 1);
      assertThat(Histogram.upperBoundNanos(bucket) - lower).isLessThanOrEqualTo(lower / 4);
    }
  }

  @Test
  void countsAndAddsUp() {
    histogram.record(1);
    histogram.record(5_000);
    histogram.record(200_000_000_000L);
    Histogram.Snapshot snapshot = histogram.snapshot();
    assertThat(snapshot.count()).isEqualTo(3);
    assertThat(snapshot.sumNanos()).isEqualTo(200_000_005_001L);
    assertThat(snapshot.count(0)).isEqualTo(1);
    assertThat(snapshot.count(snapshot.buckets() - 1)).isEqualTo(1);
  }

  @Test
  void aNegativeDurationCountsAsZero() {
    histogram.record(-5);
    assertThat(histogram.snapshot().sumNanos()).isZero();
    assertThat(histogram.snapshot().count(0)).isEqualTo(1);
  }

  @Test
  void aQuantileIsNeverTooShortAndAtMostAQuarterTooLong() {
    for (int micros = 1; micros <= 1_000; micros++) {
      histogram.record(micros * 1_000L);
    }
    Histogram.Snapshot snapshot = histogram.snapshot();
    assertThat(snapshot.quantileNanos(0.5)).isBetween(500_000L, 625_000L);
    assertThat(snapshot.quantileNanos(0.99)).isBetween(990_000L, 1_237_500L);
    assertThat(snapshot.quantileNanos(1)).isBetween(1_000_000L, 1_250_000L);
  }

  @Test
  void nothingCountedHasNoQuantile() {
    assertThat(histogram.snapshot().quantileNanos(0.5)).isZero();
  }
}
