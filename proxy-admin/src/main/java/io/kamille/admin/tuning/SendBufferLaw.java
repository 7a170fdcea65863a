package io.kamille.admin.tuning;

import io.kamille.admin.tuning.Estimate.Basis;
import io.kamille.core.socket.SendBuffer;

/** What numbers a connection gets. Pure. */
final class SendBufferLaw {

  /*
   * Content that was never sent need only last until the loop comes round to refill it. The kernel
   * asks for more at half of the mark; a refill takes some milliseconds, when the loop is paced or
   * busy. So the mark is what the path carries in 8 ms, in powers of two, 4 KiB at the least: the
   * kernel takes a whole segment train of up to 64 KiB whenever it takes any, so slow paths hold
   * less if it asks later. Acknowledgements come in bursts, too, and a window that is not used does
   * not grow: so it is what the path carries in half a round trip at the least, unless the client
   * itself is the limit. Half of the window would be as much on average, but it swings (Terai and
   * others, 2001, §2.1). The mark rises at once, and falls when half would do, so that it does not
   * follow every breath. What our own buffer held up gets twice the mark. A first look raises
   * nothing: every client takes its first window at once, and what is then queued for one that
   * stops cannot be taken back.
   *
   * In front of the kernel twice as much may wait, within the bounds of the settings, and half of
   * that before the source goes on.
   *
   * No more can wait unsent than a fixed size holds.
   *
   * The least size is the kernel's own, SOCK_MIN_SNDBUF without what it needs beside content: into
   * an empty buffer the kernel takes a whole train anyway. What the kernel refuses to fix, it
   * tunes; a size comes back from there when it is a fifth below that limit.
   */
  static final int TRAIN_BYTES = 16 << 10;
  static final int LEAST_SIZE_BYTES = 2304;
  static final int LEAST_MARK_BYTES = 4 << 10;
  static final int INITIAL_MARK_BYTES = 16 << 10;
  static final int MOST_MARK_BYTES = 512 << 10;

  private static final double REFILL_SECONDS = 0.008;
  private static final double MICROS_PER_SECOND = 1e6;
  private static final double SENDER_LIMITED = 0.1;
  private static final double COMES_BACK = 0.8;
  private static final int FALL = 2;

  private SendBufferLaw() {}

  /** What a connection begins with about which nothing is known. */
  static SendBuffer initial(TuningSettings settings) {
    return buffer(0, INITIAL_MARK_BYTES, settings);
  }

  /**
   * What a connection should have.
   *
   * @param present what it has
   * @param sizeBytes content that the kernel may hold; 0 to leave it to the kernel
   * @param settings with the bounds of what may wait in front of the kernel
   */
  static SendBuffer next(
      SendBuffer present, Estimate estimate, long sizeBytes, TuningSettings settings) {
    int mark = mark(present.notSentLowWatermarkBytes(), estimate);
    int most = Integer.highestOneBit((int) Math.max(sizeBytes, LEAST_MARK_BYTES));
    return buffer((int) sizeBytes, sizeBytes == 0 ? mark : Math.min(mark, most), settings);
  }

  /** The same with a size. */
  static SendBuffer sized(SendBuffer buffer, long sizeBytes) {
    return new SendBuffer(
        (int) sizeBytes,
        buffer.notSentLowWatermarkBytes(),
        buffer.lowWatermarkBytes(),
        buffer.highWatermarkBytes());
  }

  private static SendBuffer buffer(int size, int mark, TuningSettings settings) {
    int high =
        (int) Math.clamp(2L * mark, settings.minWatermarkBytes(), settings.maxWatermarkBytes());
    return new SendBuffer(size, mark, high / 2, high);
  }

  /** What the kernel is told of a part; 0 to leave the size to it. {@code present} is as much. */
  static long fixable(int present, long partBytes, KernelLimits limits) {
    double most = limits.fixableBytes() * (present == 0 ? COMES_BACK : 1);
    return partBytes > most ? 0 : partBytes;
  }

  /** The low-water mark for what was never sent. */
  static int mark(int present, Estimate estimate) {
    if (estimate.basis() == Basis.WINDOW || estimate.basis() == Basis.GROUP) {
      return present == 0 ? INITIAL_MARK_BYTES : present;
    }
    boolean isPathTheLimit =
        estimate.basis() != Basis.STALLED && estimate.basis() != Basis.RECEIVER;
    double rate = estimate.basis() == Basis.STALLED ? 0 : estimate.bytesPerSecond();
    double halfTrip = estimate.rttMicros() / MICROS_PER_SECOND / 2;
    double seconds = isPathTheLimit ? Math.max(REFILL_SECONDS, halfTrip) : REFILL_SECONDS;
    double wanted = Math.clamp(rate * seconds, LEAST_MARK_BYTES, MOST_MARK_BYTES);
    if (estimate.senderLimitedShare() > SENDER_LIMITED && present > 0) {
      wanted = Math.clamp(2.0 * present, wanted, MOST_MARK_BYTES);
    }
    boolean isSettled = wanted <= present && wanted * FALL > present;
    return isSettled ? present : powerOfTwo((int) wanted);
  }

  private static int powerOfTwo(int atLeast) {
    int below = Integer.highestOneBit(atLeast);
    return below == atLeast ? below : 2 * below;
  }
}
