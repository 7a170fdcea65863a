package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.tuning.Estimate.Basis;
import io.kamille.core.socket.SendBuffer;
import org.junit.jupiter.api.Test;

class SendBufferLawTest {

  private static final TuningSettings USUAL = TuningSettings.DEFAULT;

  @Test
  void aSlowClientGetsTheLeastMark() {
    SendBuffer next = SendBufferLaw.next(present(64 << 10), rate(8192, 0), 0, USUAL);
    assertThat(next).isEqualTo(new SendBuffer(0, 4 << 10, 4 << 10, 8 << 10));
  }

  @Test
  void aFastClientGetsWhatItCarriesUntilTheNextRefill() {
    assertThat(SendBufferLaw.mark(32 << 10, rate(12_500_000, 0))).isEqualTo(128 << 10);
  }

  /** 400 kB/s at 250 ms are 100 KB in flight; half a window would swing with each loss. */
  @Test
  void aLongPathGetsWhatItCarriesInHalfARoundTrip() {
    var far = new Estimate(Basis.LOSS, 400_000, 250_000, 0, 0.02, 16, 0, 0, 0, 0, 1);
    assertThat(SendBufferLaw.mark(32 << 10, far)).isEqualTo(64 << 10);
  }

  @Test
  void theRoundTripOfAClientThatIsItselfTheLimitDoesNotCount() {
    var reader = new Estimate(Basis.RECEIVER, 100_000, 250_000, 0, 0, 0, 0, 1, 0, 0, 1);
    assertThat(SendBufferLaw.mark(64 << 10, reader)).isEqualTo(4 << 10);
  }

  /** 300 clients that took their first window at once and stopped held 568 KiB each. */
  @Test
  void aFirstLookRaisesNothing() {
    var guess = new Estimate(Basis.WINDOW, 1e9, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    assertThat(SendBufferLaw.mark(32 << 10, guess)).isEqualTo(32 << 10);
  }

  @Test
  void theMarkFallsOnlyWhenHalfWouldDo() {
    assertThat(SendBufferLaw.mark(64 << 10, rate(4_100_000, 0))).isEqualTo(64 << 10);
    assertThat(SendBufferLaw.mark(256 << 10, rate(4_000_000, 0))).isEqualTo(32 << 10);
  }

  @Test
  void whoIsHeldUpByItsBufferGetsTwiceTheMark() {
    assertThat(SendBufferLaw.mark(64 << 10, rate(1_000, 0.5))).isEqualTo(128 << 10);
    assertThat(SendBufferLaw.mark(512 << 10, rate(1_000, 0.5))).isEqualTo(512 << 10);
  }

  /** Twice the mark, in powers of two, between both bounds. */
  @Test
  void aHighWatermarkIsAnyPowerOfTwoBetweenTheBounds() {
    TuningSettings wide = USUAL.withWatermarks(8 << 10, 1 << 20);
    TuningSettings narrow = USUAL.withWatermarks(32 << 10, 128 << 10);
    for (int mark = 4 << 10; mark <= 512 << 10; mark *= 2) {
      Estimate estimate = rate(mark / 0.008, 0);
      assertThat(SendBufferLaw.next(present(0), estimate, 0, wide))
          .isEqualTo(new SendBuffer(0, mark, mark, 2 * mark));
      assertThat(SendBufferLaw.next(present(0), estimate, 0, narrow).highWatermarkBytes())
          .isEqualTo(Math.clamp(2L * mark, 32 << 10, 128 << 10));
      assertThat(SendBufferLaw.next(present(0), estimate, 0, USUAL).highWatermarkBytes())
          .isEqualTo(Math.min(2 * mark, 512 << 10));
    }
  }

  @Test
  void noMoreWaitsUnsentThanAFixedSizeHolds() {
    Estimate fast = rate(1e9, 0);
    assertThat(SendBufferLaw.next(present(0), fast, 222_521, USUAL))
        .isEqualTo(new SendBuffer(222_521, 128 << 10, 128 << 10, 256 << 10));
    assertThat(
            SendBufferLaw.next(present(0), fast, SendBufferLaw.LEAST_SIZE_BYTES, USUAL)
                .notSentLowWatermarkBytes())
        .isEqualTo(SendBufferLaw.LEAST_MARK_BYTES);
  }

  @Test
  void aSizeAboveTheKernelsLimitIsLeftToItAndComesBackAFifthBelow() {
    var limits = new KernelLimits(4 << 20, 100_000);
    assertThat(SendBufferLaw.fixable(90_000, 100_000, limits)).isEqualTo(100_000);
    assertThat(SendBufferLaw.fixable(90_000, 100_001, limits)).isZero();
    assertThat(SendBufferLaw.fixable(0, 90_000, limits)).isZero();
    assertThat(SendBufferLaw.fixable(0, 80_000, limits)).isEqualTo(80_000);
  }

  private static SendBuffer present(int mark) {
    return new SendBuffer(0, mark, mark, 2 * mark);
  }

  private static Estimate rate(double bytesPerSecond, double senderLimited) {
    return new Estimate(Basis.DELIVERY, bytesPerSecond, 0, 0, 0, 0, 0, 0, senderLimited, 0, 1);
  }
}
