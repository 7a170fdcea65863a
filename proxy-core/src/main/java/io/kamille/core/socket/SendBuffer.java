package io.kamille.core.socket;

/**
 * How much may wait for one client: in the send buffer of the kernel, and in front of it in Netty's
 * queue, whose watermarks these are (WRITE_BUFFER_WATER_MARK).
 *
 * @param sendBufferBytes content the kernel may hold, sent or not; 0 to let the kernel choose
 * @param notSentLowWatermarkBytes content never sent, below half of which the kernel asks for more
 *     and above which it takes none (TCP_NOTSENT_LOWAT); 0 for the system's own limit
 * @param lowWatermarkBytes waiting in Netty's queue, below which the source goes on
 * @param highWatermarkBytes waiting in Netty's queue, above which the source pauses
 */
public record SendBuffer(
    int sendBufferBytes,
    int notSentLowWatermarkBytes,
    int lowWatermarkBytes,
    int highWatermarkBytes) {

  /*
   * The mark is for what a path carries until the loop comes round to refill it, which takes some
   * milliseconds when the loop is paced or busy. A connection begins with a small one. If a client
   * drains more than a mark could hide, its mark rises at once: content that leaves as fast as it
   * is given needs no bound, and each refill costs a turn and a packet. The kernel takes the mark,
   * and a train of segments, of a client that reads nothing: so less than a quarter of a mebibyte
   * proves nothing, and the mark does not count as drained. At most twice what was taken at once
   * waits for a client that was fast and stops.
   */
  public static final double REFILL_NANOS = 8e6;

  /** More than a kernel holds by default for one socket (tcp_wmem, tcp(7)): as good as no mark. */
  public static final int MOST_MARK_BYTES = 16 << 20;

  /** Taken in one go, the least that tells a fast client. */
  public static final int LEAST_PROOF_BYTES = 256 << 10;

  public SendBuffer {
    if (lowWatermarkBytes < 0 || highWatermarkBytes < lowWatermarkBytes) {
      throw new IllegalArgumentException(
          "watermarks: "
              + lowWatermarkBytes
              + ", "
              + highWatermarkBytes
              + " (expected: low, high)");
    }
  }

  /** What is right once the kernel has taken so many octets in that time: this, or more. */
  SendBuffer after(long takenBytes, long nanos) {
    int mark = notSentLowWatermarkBytes;
    if (mark == 0 || takenBytes < LEAST_PROOF_BYTES) {
      return this;
    }
    double refill = (takenBytes - mark) * REFILL_NANOS / Math.max(nanos, 1);
    double wanted = Math.min(Math.min(refill, 2.0 * takenBytes), MOST_MARK_BYTES);
    return wanted < 2.0 * mark
        ? this
        : new SendBuffer(
            sendBufferBytes,
            Integer.highestOneBit((int) wanted),
            lowWatermarkBytes,
            highWatermarkBytes);
  }

  /** Whether the kernel chooses the size by itself, as it would without us. */
  public boolean isAutotuned() {
    return sendBufferBytes == 0;
  }
}
