package io.kamille.admin.tuning;

/**
 * What a connection's path can carry.
 *
 * @param basis what it follows from
 * @param bytesPerSecond throughput to expect
 * @param rttMicros mean round-trip time
 * @param rtoMicros mean retransmission time-out
 * @param lossEventRate loss events per segment, where few tell with those of the client's group or
 *     what is assumed of strangers
 * @param lossEvents within the window
 * @param deliveryRate mean of what arrived while there was enough to send, octets a second; 0 if
 *     there never was
 * @param receiverLimitedShare of the time with something to send
 * @param senderLimitedShare of it, in which our send buffer was the limit
 * @param demandBytes content the send buffer should hold: throughput × round-trip time × headroom
 * @param confidence from 0, a guess, to 1
 */
public record Estimate(
    Basis basis,
    double bytesPerSecond,
    double rttMicros,
    double rtoMicros,
    double lossEventRate,
    double lossEvents,
    double deliveryRate,
    double receiverLimitedShare,
    double senderLimitedShare,
    long demandBytes,
    double confidence) {

  /** Whether it lost anything of late. */
  boolean hasLost() {
    return lossEvents >= LossWindow.LEAST_EVENTS;
  }

  /** What an estimate follows from. */
  public enum Basis {
    /** Its client's group: the connection has told nothing yet. */
    GROUP,
    /** Its losses, by the law of its congestion control. */
    LOSS,
    /** The rate at which octets arrived. */
    DELIVERY,
    /** The client's window, which is what holds it up. */
    RECEIVER,
    /** Our send buffer, which is what holds it up: it should be larger. */
    SENDER,
    /** Nothing was acknowledged though octets wait. */
    STALLED,
    /** The congestion window, since the kernel tells no more. */
    WINDOW
  }
}
