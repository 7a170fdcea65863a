package io.kamille.cache.tiers.peak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When requests leave the disk alone, by windows of one second that the test makes up. */
class PeakDetectorTest {

  private static final long MILLI = 1_000_000;
  private final PeakDetector detector = new PeakDetector();

  /** A window with so many reads, of which each waited and took so long. */
  private static PeakWindow window(
      long reads, long waitMillis, long serviceMillis, long skipped, long originMillis) {
    return new PeakWindow(
        PeakDetector.WINDOW_NANOS,
        reads,
        reads * waitMillis * MILLI,
        reads * serviceMillis * MILLI,
        0,
        skipped,
        originMillis == 0 ? 0 : 10,
        10 * originMillis * MILLI,
        100);
  }

  private void take(PeakWindow window) {
    detector.follow(PeakChoice.AUTO);
    detector.take(window);
  }

  private void take(int times, PeakWindow window) {
    for (int i = 0; i < times; i++) {
      take(window);
    }
  }

  /** The disk takes 4 ms, which is learnt; the origin takes so long. */
  private void beQuiet(long originMillis) {
    take(5, window(20, 0, 4, 0, originMillis));
    assertThat(detector.mode()).isEqualTo(TierMode.NORMAL);
  }

  /** Slower than the origin's 50 ms. */
  private static PeakWindow slow() {
    return window(100, 60, 4, 0, 50);
  }

  private static PeakWindow leftAlone() {
    return window(0, 0, 0, 100, 50);
  }

  private void enter() {
    beQuiet(50);
    take(61, window(20, 0, 4, 0, 50));
    take(3, slow());
    assertThat(detector.mode()).isEqualTo(TierMode.PEAK);
  }

  private void enterAndWaitForTheTrial() {
    enter();
    take(9, leftAlone());
    assertThat(detector.trialReads()).isZero();
    take(leftAlone());
    assertThat(detector.trialReads()).isEqualTo(4);
  }

  private void assertMode(TierMode mode) {
    assertThat(detector.mode()).isEqualTo(mode);
  }

  // Entering

  @Test
  void threeWindowsInWhichTheDiskIsSlowerThanTheOriginBeginAPeak() {
    beQuiet(50);
    take(2, slow());
    assertMode(TierMode.NORMAL);
    take(slow());
    assertMode(TierMode.PEAK);
    assertThat(detector.reason())
        .isEqualTo(
            "the disk is behind: a read took 64.0 ms (4.0 ms when quiet; the origin 50.0 ms),"
                + " 6.4 at a time");
  }

  @Test
  void aWindowWithoutEvidenceBeginsTheCountAnew() {
    beQuiet(50);
    for (int i = 0; i < 10; i++) {
      take(2, slow());
      take(window(100, 1, 4, 0, 50));
    }
    assertMode(TierMode.NORMAL);
  }

  @Test
  void aDiskThatIsAsSlowWhenItIsQuietIsNoPeak() {
    beQuiet(2);
    take(20, window(20, 0, 4, 0, 2));
    assertMode(TierMode.NORMAL);
  }

  @Test
  void aDiskThatIsSlowerThanUsualButQuickerThanTheOriginIsNoPeak() {
    beQuiet(500);
    take(20, window(10, 96, 4, 0, 500));
    assertMode(TierMode.NORMAL);
  }

  @Test
  void moreThanTheDiskCanDoIsAPeakHoweverSlowTheOriginIs() {
    beQuiet(3000);
    take(3, window(200, 90, 10, 0, 3000));
    assertMode(TierMode.PEAK);
  }

  @Test
  void moreThanTheDiskCanDoIsAPeakAlsoIfNoOriginWasAsked() {
    beQuiet(0);
    take(3, window(200, 90, 10, 0, 0));
    assertMode(TierMode.PEAK);
    assertThat(detector.reason()).contains("the origin is not known");
  }

  @Test
  void aFewSlowReadsAreNoEvidence() {
    beQuiet(50);
    take(20, window(7, 400, 100, 0, 50));
    assertMode(TierMode.NORMAL);
  }

  @Test
  void readsThatDoNotEndAreEvidence() {
    beQuiet(50);
    var stuck = new PeakWindow(PeakDetector.WINDOW_NANOS, 0, 0, 0, 8, 0, 0, 0, 100);
    take(3, stuck);
    assertMode(TierMode.PEAK);
    assertThat(detector.reason()).isEqualTo("no disk read ended, 8 are under way");
  }

  @Test
  void aSurgeAloneIsNoPeakButMakesEvidenceCountSooner() {
    take(70, window(20, 0, 4, 0, 50));
    var surge = new PeakWindow(PeakDetector.WINDOW_NANOS, 20, 0, 80 * MILLI, 0, 0, 0, 0, 1000);
    take(5, surge);
    assertMode(TierMode.NORMAL);
    var slow =
        new PeakWindow(PeakDetector.WINDOW_NANOS, 100, 6000 * MILLI, 400 * MILLI, 0, 0, 0, 0, 1000);
    take(slow);
    assertMode(TierMode.NORMAL);
    take(slow);
    assertMode(TierMode.PEAK);
  }

  /** Reads of 32 ms each, after a wait, and so many under way at the end. */
  private static PeakWindow busy(long reads, long waitMillis, long underWay) {
    long service = reads * 32 * MILLI;
    return new PeakWindow(
        PeakDetector.WINDOW_NANOS,
        reads,
        reads * waitMillis * MILLI,
        service,
        underWay,
        0,
        10,
        3000 * MILLI,
        100);
  }

  @Test
  void whatWaitsAtTheEndOfAWindowIsEvidenceBeforeItHasBeenRead() {
    beQuiet(300);
    take(3, busy(125, 20, 40));
    assertMode(TierMode.PEAK);
    assertThat(detector.reason())
        .startsWith("the disk is behind: a read took 52.0 ms and the next would take 320.0 ms");
  }

  @Test
  void aFewThatAreUnderWayAtTheEndAreNone() {
    beQuiet(300);
    take(20, busy(125, 20, 12));
    assertMode(TierMode.NORMAL);
  }

  @Test
  void aWaitThatGrowsByHalfMakesEvidenceCountSooner() {
    beQuiet(50);
    take(window(100, 60, 4, 0, 50));
    take(window(100, 90, 4, 0, 50));
    assertMode(TierMode.NORMAL);
    beQuiet(50);
    take(window(100, 60, 4, 0, 50));
    take(window(100, 92, 4, 0, 50));
    assertMode(TierMode.PEAK);
  }

  @Test
  void aDiskThatWasThoughtQuickerIsKnownAfterSomeWindows() {
    take(5, window(20, 0, 1, 0, 50));
    take(10, window(20, 0, 8, 0, 50));
    assertThat(detector.baseline().quietReadNanos()).isGreaterThan(7.0 * MILLI);
  }

  @Test
  void theBeginningOfAPeakIsNotTakenForAQuietDisk() {
    beQuiet(50);
    take(2, window(100, 0, 30, 0, 50));
    assertThat(detector.baseline().quietReadNanos()).isEqualTo(4.0 * MILLI);
  }

  // Leaving

  @Test
  void aPeakLastsUntilTheDiskHasBeenTried() {
    enterAndWaitForTheTrial();
    assertMode(TierMode.PEAK);
  }

  @Test
  void theTrialGrowsUntilNothingIsHeldBack() {
    enterAndWaitForTheTrial();
    take(window(4, 0, 4, 96, 50));
    assertThat(detector.trialReads()).isEqualTo(16);
    take(window(16, 0, 4, 84, 50));
    assertThat(detector.trialReads()).isEqualTo(64);
    assertMode(TierMode.PEAK);
    take(window(60, 0, 4, 0, 50));
    assertMode(TierMode.NORMAL);
    assertThat(detector.trialReads()).isZero();
    assertThat(detector.reason()).startsWith("the disk keeps up again: a read took 4.0 ms");
  }

  @Test
  void whileMoreIsWantedThanTheDiskCanDoItIsNotTried() {
    enter();
    take(159, window(0, 0, 0, 201, 50));
    assertThat(detector.trialReads()).isZero();
    take(window(0, 0, 0, 201, 50));
    assertThat(detector.trialReads()).isEqualTo(4);
  }

  @Test
  void whenNoMoreIsWantedThanTheDiskCanDoItIsTried() {
    enter();
    take(30, window(0, 0, 0, 201, 50));
    assertThat(detector.trialReads()).isZero();
    take(window(0, 0, 0, 200, 50));
    assertThat(detector.trialReads()).isEqualTo(4);
  }

  @Test
  void aDiskThatDidMoreThanItsQuietTimeTellsIsTakenAtWhatItDid() {
    beQuiet(50);
    take(3, window(1000, 60, 4, 0, 50));
    assertMode(TierMode.PEAK);
    take(10, window(0, 0, 0, 800, 50));
    assertThat(detector.trialReads()).isEqualTo(4);
  }

  @Test
  void whereNobodyAsksForTheDiskThePeakIsOver() {
    enterAndWaitForTheTrial();
    take(window(0, 0, 0, 0, 50));
    assertMode(TierMode.NORMAL);
  }

  @Test
  void aTrialThatIsSlowLeavesTheDiskAloneForTwiceAsLong() {
    enterAndWaitForTheTrial();
    take(window(4, 100, 4, 96, 50));
    assertThat(detector.trialReads()).isZero();
    take(19, leftAlone());
    assertThat(detector.trialReads()).isZero();
    take(leftAlone());
    assertThat(detector.trialReads()).isEqualTo(4);
  }

  @Test
  void theDiskIsTriedAgainAfter160WindowsAtTheLatest() {
    enterAndWaitForTheTrial();
    for (int i = 0; i < 10; i++) {
      take(window(4, 100, 4, 96, 50));
      take(160, leftAlone());
    }
    assertThat(detector.trialReads()).isPositive();
  }

  @Test
  void aPeakThatComesBackWithinAMinuteLastsLonger() {
    enterAndWaitForTheTrial();
    take(window(1, 0, 4, 0, 50));
    assertMode(TierMode.NORMAL);
    take(3, slow());
    assertMode(TierMode.PEAK);
    take(19, leftAlone());
    assertThat(detector.trialReads()).isZero();
    take(leftAlone());
    assertThat(detector.trialReads()).isEqualTo(4);
  }

  @Test
  void whatIsNeitherQuickNorSlowDoesNotCrossTheBorder() {
    enterAndWaitForTheTrial();
    var between = window(4, 36, 4, 96, 50);
    take(4, between);
    assertThat(detector.trialReads()).isEqualTo(4);
    assertMode(TierMode.PEAK);
    take(between);
    assertThat(detector.trialReads()).isZero();
    assertMode(TierMode.PEAK);
  }

  @Test
  void theSameLoadNeitherBeginsNorEndsAPeak() {
    beQuiet(50);
    var between = window(100, 36, 4, 0, 50);
    take(100, between);
    assertMode(TierMode.NORMAL);
    take(3, slow());
    take(10, leftAlone());
    take(100, between);
    assertMode(TierMode.PEAK);
  }

  // The operator

  @Test
  void aForcedPeakHoldsWhateverTheDiskDoes() {
    detector.follow(PeakChoice.FORCED);
    assertMode(TierMode.PEAK);
    assertThat(detector.reason()).isEqualTo("forced");
    for (int i = 0; i < 100; i++) {
      detector.follow(PeakChoice.FORCED);
      detector.take(window(10, 0, 4, 0, 50));
      assertThat(detector.trialReads()).isZero();
    }
    assertMode(TierMode.PEAK);
  }

  @Test
  void offEndsAPeakAndBeginsNone() {
    enter();
    for (int i = 0; i < 10; i++) {
      detector.follow(PeakChoice.OFF);
      detector.take(slow());
      assertMode(TierMode.NORMAL);
    }
    take(2, slow());
    assertMode(TierMode.NORMAL);
    take(slow());
    assertMode(TierMode.PEAK);
  }

  @Test
  void theDiskIsTriedWhenNobodyForcesAPeakAnyMore() {
    detector.follow(PeakChoice.FORCED);
    detector.take(leftAlone());
    detector.follow(PeakChoice.AUTO);
    assertMode(TierMode.PEAK);
    assertThat(detector.trialReads()).isEqualTo(4);
    detector.take(window(4, 0, 4, 96, 50));
    detector.follow(PeakChoice.AUTO);
    detector.take(window(16, 0, 4, 0, 50));
    assertMode(TierMode.NORMAL);
  }

  // A clock that jumps

  @Test
  void aWindowThatIsMuchTooLongIsNoEvidence() {
    beQuiet(50);
    take(2, slow());
    take(
        new PeakWindow(
            6 * PeakDetector.WINDOW_NANOS, 100, 99_000 * MILLI, 9_000 * MILLI, 20, 0, 0, 0, 9));
    take(2, slow());
    assertMode(TierMode.NORMAL);
    take(slow());
    assertMode(TierMode.PEAK);
  }

  @Test
  void afterAWindowThatIsMuchTooLongTheDiskIsTriedAtOnce() {
    enter();
    take(new PeakWindow(3600 * PeakDetector.WINDOW_NANOS, 0, 0, 0, 0, 0, 0, 0, 0));
    assertMode(TierMode.PEAK);
    assertThat(detector.trialReads()).isEqualTo(4);
  }

  @Test
  void aWindowWithoutAnyTimeDoesNoHarm() {
    take(10, new PeakWindow(0, 0, 0, 0, 0, 0, 0, 0, 5));
    assertMode(TierMode.NORMAL);
    assertThat(detector.baseline().requestsPerSecond()).isZero();
  }

  @Test
  void originsThatWereNotAskedForAMinuteAreUnknownAgain() {
    beQuiet(50);
    take(59, window(0, 0, 0, 0, 0));
    assertThat(detector.baseline().originNanos()).isEqualTo(50.0 * MILLI);
    take(window(0, 0, 0, 0, 0));
    assertThat(detector.baseline().originNanos()).isZero();
  }
}
