package io.kamille.core.socket;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SendBufferTest {

  private static final int MIB = 1 << 20;
  private static final long MILLI = 1_000_000;

  private final SendBuffer small = new SendBuffer(0, 16 << 10, 16 << 10, 32 << 10);

  @Test
  void theMarkRisesToWhatAFastClientDrainsUntilTheNextRefill() {
    assertThat(small.after(MIB, 16 * MILLI))
        .isEqualTo(new SendBuffer(0, 256 << 10, 16 << 10, 32 << 10));
  }

  @Test
  void atMostTwiceOfWhatWasTakenAtOnceMayWait() {
    assertThat(small.after(MIB, 1).notSentLowWatermarkBytes()).isEqualTo(2 * MIB);
    assertThat(small.after(1L << 40, 1).notSentLowWatermarkBytes())
        .isEqualTo(SendBuffer.MOST_MARK_BYTES);
  }

  @Test
  void aClientThatReadsSlowlyKeepsItsMark() {
    assertThat(small.after(MIB, 1000 * MILLI)).isSameAs(small);
  }

  @Test
  void whatTheKernelTakesOfAClientThatReadsNothingProvesNothing() {
    assertThat(small.after(SendBuffer.LEAST_PROOF_BYTES - 1, 1)).isSameAs(small);
    SendBuffer large = new SendBuffer(0, MIB, 16 << 10, 32 << 10);
    assertThat(large.after(MIB, 1)).isSameAs(large);
  }

  @Test
  void withoutAMarkNoneIsSet() {
    SendBuffer system = new SendBuffer(0, 0, 16 << 10, 32 << 10);
    assertThat(system.after(MIB, 1)).isSameAs(system);
  }
}
