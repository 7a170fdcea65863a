package io.kamille.admin.tuning;

/**
 * What is known of a connection, and why it has the send buffer it has, in the words of the API.
 *
 * @param number which no other connection has
 * @param client address
 * @param ageSeconds since the last look
 * @param demandBytes content the send buffer should hold
 * @param allocationBytes of the budget; 0 if the kernel decides
 * @param why in a sentence
 */
public record ConnectionSnapshot(
    long number,
    String client,
    String protocol,
    String congestionControl,
    double ageSeconds,
    Path path,
    long demandBytes,
    long allocationBytes,
    Buffer sendBuffer,
    Pending pending,
    String why) {

  private static final double MICROS_PER_MILLI = 1000;

  /** What its path can carry, as {@link Estimate} says it. */
  public record Path(
      Estimate.Basis basis,
      long bytesPerSecond,
      double rttMillis,
      double rtoMillis,
      double lossEventRate,
      double lossEvents,
      long deliveryRate,
      double receiverLimited,
      double senderLimited,
      double confidence) {

    static Path of(Estimate estimate) {
      return new Path(
          estimate.basis(),
          (long) estimate.bytesPerSecond(),
          estimate.rttMicros() / MICROS_PER_MILLI,
          estimate.rtoMicros() / MICROS_PER_MILLI,
          estimate.lossEventRate(),
          estimate.lossEvents(),
          (long) estimate.deliveryRate(),
          estimate.receiverLimitedShare(),
          estimate.senderLimitedShare(),
          estimate.confidence());
    }
  }

  /**
   * Its send buffer.
   *
   * @param grantedBytes at which the kernel fixed the size; 0 if it tunes it
   */
  public record Buffer(
      long sizeBytes,
      long grantedBytes,
      long notSentLowWatermarkBytes,
      long lowWatermarkBytes,
      long highWatermarkBytes) {}

  /** What waits for the client at the last look: in front of the kernel, then in it. */
  public record Pending(
      long bufferedBytes, long leasedBytes, long fileBytes, long unsentBytes, long inFlightBytes) {}
}
