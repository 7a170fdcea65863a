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

  /** Whether the kernel chooses the size by itself, as it would without us. */
  public boolean isAutotuned() {
    return sendBufferBytes == 0;
  }
}
