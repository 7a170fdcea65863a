package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.admin.tuning.Estimate.Basis;
import io.kamille.core.socket.CongestionControl;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ThroughputEstimatorTest {

  private static final GroupPrior NOBODY = GroupPrior.UNKNOWN;

  private final ThroughputEstimator estimator = new ThroughputEstimator();

  @Test
  void demandIsThroughputTimesRoundTripTimesHeadroom() {
    Estimate estimate = lossy(new TestSamples(CongestionControl.CUBIC));
    assertThat((double) estimate.demandBytes())
        .isCloseTo(estimate.bytesPerSecond() * estimate.rttMicros() / 1e6 * 2, within(1.0));
  }

  @Test
  void aLossySenderGoesByTheLawOfItsCongestionControl() {
    Estimate estimate = lossy(new TestSamples(CongestionControl.CUBIC));
    assertThat(estimate.basis()).isEqualTo(Basis.LOSS);
    assertThat(estimate.bytesPerSecond() * 8 / 1e6).isCloseTo(2.6, within(0.5));
  }

  @Test
  void withoutLossTheBestDeliveryRateIsTheBound() {
    var path = new TestSamples(CongestionControl.CUBIC);
    Estimate estimate = estimator.add(path.second(1000, 0, 1_000_000).sample(), NOBODY, 0);
    for (int i = 1; i < 60; i++) {
      estimate = estimator.add(path.second(1000, 0, 1_000_000).sample(), NOBODY, 0);
    }
    assertThat(estimate.basis()).isEqualTo(Basis.DELIVERY);
    assertThat(estimate.bytesPerSecond()).isCloseTo(1_000_000, within(20_000.0));
  }

  @Test
  void aPathThatLosesAtEveryLookIsNotBoundBelowWhatArrives() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.second(150, 0, 200_000).sample(), NOBODY, 0);
    Estimate estimate = estimator.add(path.second(150, 0, 200_000).sample(), NOBODY, 0);
    for (int i = 0; i < 600; i++) {
      estimate = estimator.add(path.second(150, 1, 200_000).sample(), NOBODY, 0);
    }
    assertThat(estimate.bytesPerSecond()).isCloseTo(200_000, within(1.0));
  }

  @Test
  void aStrangerThatLostNothingIsNotToldThatItLoses() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.second(20, 0, 0).sample(), NOBODY, 0);
    Estimate estimate = estimator.add(path.second(20, 0, 0).sample(), NOBODY, 0);
    assertThat(estimate.basis()).isEqualTo(Basis.WINDOW);
    assertThat(estimate.confidence()).isZero();
    assertThat(TuningSentence.path(estimate, CongestionControl.CUBIC)).doesNotContain("loses");
  }

  /**
   * 200 connections on 100 Mbit/s: 40 segments a second each, of which 4 were lost with a time-out.
   */
  @Test
  void timeoutsCostWhatTheyLast() {
    var path = new TestSamples(CongestionControl.CUBIC).rtt(Duration.ofMillis(11));
    estimator.add(path.second(40, 0, 0).sample(), NOBODY, 0);
    Estimate with = estimator.add(path.second(40, 4, 0).timeouts(3).sample(), NOBODY, 0);
    for (int i = 0; i < 30; i++) {
      with = estimator.add(path.second(40, 4, 0).timeouts(3).sample(), NOBODY, 0);
    }
    assertThat(with.basis()).isEqualTo(Basis.LOSS);
    assertThat(with.bytesPerSecond()).isBetween(40.0 * 1448, 65.0 * 1448);
  }

  @Test
  void aLossThatHasFadedIsNotTold() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.second(100, 0, 900_000).sample(), NOBODY, 0);
    Estimate estimate = estimator.add(path.second(100, 1, 900_000).sample(), NOBODY, 0);
    assertThat(estimate.basis()).isEqualTo(Basis.LOSS);
    for (int i = 0; i < 120; i++) {
      estimate = estimator.add(path.second(100, 0, 900_000).sample(), NOBODY, 0);
    }
    assertThat(estimate.basis()).isEqualTo(Basis.DELIVERY);
  }

  @Test
  void aPathThatLostNothingYetIsTakenForAsLossyAsItsNeighbours() {
    var prior = new GroupPrior(0.01, 250_000, 30_000, 5);
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.second(20, 0, 0).sample(), prior, 0);
    Estimate estimate = estimator.add(path.second(20, 0, 0).sample(), prior, 0);
    assertThat(estimate.basis()).isEqualTo(Basis.LOSS);
    assertThat(TuningSentence.path(estimate, CongestionControl.CUBIC))
        .startsWith("The path lost nothing yet. If it lost ");
  }

  @Test
  void bbrGoesByItsDeliveryRateWhateverIsLost() {
    var path = new TestSamples(CongestionControl.BBR);
    Estimate estimate = estimator.add(path.second(1000, 100, 1_200_000).sample(), NOBODY, 0);
    for (int i = 1; i < 20; i++) {
      estimate = estimator.add(path.second(1000, 100, 1_200_000).sample(), NOBODY, 0);
    }
    assertThat(estimate.basis()).isEqualTo(Basis.DELIVERY);
    assertThat(estimate.bytesPerSecond()).isCloseTo(1_200_000, within(1000.0));
  }

  @Test
  void anUnknownCongestionControlGoesByItsDeliveryRate() {
    var path = new TestSamples(CongestionControl.OTHER);
    Estimate estimate = estimator.add(path.second(100, 10, 300_000).sample(), NOBODY, 0);
    for (int i = 1; i < 5; i++) {
      estimate = estimator.add(path.second(100, 10, 300_000).sample(), NOBODY, 0);
    }
    assertThat(estimate.basis()).isEqualTo(Basis.DELIVERY);
  }

  @Test
  void readingsWithNothingMoreToSendCountOnlyWhileThereAreNoOthers() {
    var path = new TestSamples(CongestionControl.BBR);
    estimator.add(path.second(10, 0, 800_000).sample(), NOBODY, 0);
    estimator.add(path.second(10, 0, 800_000).sample(), NOBODY, 0);
    Estimate estimate = estimator.add(path.appLimited().second(10, 0, 10_000).sample(), NOBODY, 0);
    assertThat(estimate.bytesPerSecond()).isCloseTo(800_000, within(1.0));
  }

  @Test
  void aClientThatReadsSlowlyGetsWhatItReads() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.sample(), NOBODY, 0);
    Estimate estimate =
        estimator.add(path.second(6, 0, 50_000_000).limited(0.99, 0).sample(), NOBODY, 0);
    assertThat(estimate.basis()).isEqualTo(Basis.RECEIVER);
    assertThat(estimate.bytesPerSecond()).isCloseTo(6 * 1448, within(1.0));
  }

  /** 32 KiB every four seconds: the kernel of the client opens its window in lumps. */
  @Test
  void aClientThatReadsInLumpsIsTakenByTheirMean() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.sample(), NOBODY, 0);
    Estimate estimate = estimator.add(path.second(24, 0, 0).limited(1, 0).sample(), NOBODY, 0);
    for (int i = 0; i < 40; i++) {
      estimate =
          i % 4 == 3
              ? estimator.add(path.second(24, 0, 0).limited(1, 0).sample(), NOBODY, 0)
              : estimator.add(path.stalledSecond().limited(1, 0).sample(), NOBODY, 0);
      assertThat(estimate.basis()).isEqualTo(Basis.RECEIVER);
    }
    assertThat(estimate.bytesPerSecond()).isCloseTo(24 * 1448 / 4.0, within(2_000.0));
  }

  @Test
  void aClientThatStopsReadingIsStalledAfterAWhile() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.sample(), NOBODY, 0);
    Estimate estimate = estimator.add(path.second(24, 0, 0).limited(1, 0).sample(), NOBODY, 0);
    for (int i = 0; i < 9; i++) {
      estimate = estimator.add(path.stalledSecond().limited(1, 0).sample(), NOBODY, 0);
    }
    assertThat(estimate.basis()).isEqualTo(Basis.STALLED);
  }

  @Test
  void aClientThatNeverReadsNeedsNothing() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.sample(), NOBODY, 0);
    Estimate estimate = estimator.add(path.stalledSecond().sample(), NOBODY, 0);
    assertThat(estimate.basis()).isEqualTo(Basis.STALLED);
    assertThat(estimate.demandBytes()).isZero();
  }

  @Test
  void whatOurOwnBufferHeldUpAsksForTwiceThatBuffer() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.sample(), NOBODY, 65_536);
    Estimate estimate =
        estimator.add(path.second(100, 0, 100_000).limited(0, 0.9).sample(), NOBODY, 65_536);
    assertThat(estimate.basis()).isEqualTo(Basis.SENDER);
    assertThat(estimate.demandBytes()).isEqualTo(131_072);
  }

  @Test
  void aRoundTripTimeThatJumpsTenfoldIsAnotherPathAtTheSecondLook() {
    var path = new TestSamples(CongestionControl.CUBIC).rtt(Duration.ofMillis(10));
    for (int i = 0; i < 30; i++) {
      estimator.add(path.second(1000, 1, 1_500_000).sample(), NOBODY, 0);
    }
    path.rtt(Duration.ofMillis(100));
    estimator.add(path.second(100, 0, 150_000).sample(), NOBODY, 0);
    Estimate estimate = estimator.add(path.second(100, 0, 150_000).sample(), NOBODY, 0);
    assertThat(estimate.rttMicros()).isEqualTo(100_000);
    assertThat(estimate.bytesPerSecond()).isLessThan(200_000);
  }

  @Test
  void aLookThatIsNotLaterThanTheLastOneIsPassedOver() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.second(100, 0, 1000).sample(), NOBODY, 0);
    Estimate before = estimator.add(path.second(100, 0, 1000).sample(), NOBODY, 0);
    assertThat(estimator.add(path.second(5, 5, 9).clockBack(3_000_000_000L).sample(), NOBODY, 0))
        .isEqualTo(before);
  }

  @Test
  void aKernelThatTellsLittleIsTakenByItsWindow() {
    var path = new TestSamples(CongestionControl.CUBIC);
    estimator.add(path.shortLook(), NOBODY, 0);
    Estimate estimate = estimator.add(path.second(100, 0, 0).shortLook(), NOBODY, 0);
    assertThat(estimate.basis()).isEqualTo(Basis.WINDOW);
    assertThat(estimate.bytesPerSecond()).isCloseTo(20 * 1448 / 0.05, within(1.0));
  }

  @Test
  void aNewConnectionIsTakenForItsNeighbours() {
    var prior = new GroupPrior(0.01, 250_000, 30_000, 5);
    Estimate estimate = estimator.add(new TestSamples(CongestionControl.CUBIC).sample(), prior, 0);
    assertThat(estimate.basis()).isEqualTo(Basis.GROUP);
    assertThat(estimate.bytesPerSecond()).isEqualTo(250_000);
  }

  /** 1 % of segments lost, in a minute of looks. */
  private Estimate lossy(TestSamples path) {
    Estimate estimate = estimator.add(path.second(220, 3, 400_000).sample(), NOBODY, 0);
    for (int i = 1; i < 60; i++) {
      estimate = estimator.add(path.second(220, i % 5 == 0 ? 3 : 2, 400_000).sample(), NOBODY, 0);
    }
    return estimate;
  }
}
