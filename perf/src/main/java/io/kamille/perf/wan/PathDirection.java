package io.kamille.perf.wan;

import java.util.SplittableRandom;

/**
 * One direction of a link: decides what becomes of each packet the moment it arrives. The
 * transmitter is one number, the instant at which it is free; what lies between now and then is the
 * queue. So the delivery time of a packet is known at once, and packets leave in the order they
 * came. A seed fixes which packets are lost at random, however they are spread over time. One
 * thread; allocates nothing per packet.
 */
public final class PathDirection {

  /** What {@link #admit} answers for a packet that is lost. */
  public static final long LOST = Long.MIN_VALUE;

  private final SplittableRandom losses;
  private final SplittableRandom times;
  private final PathSettings settings;
  private long freeNanos = Long.MIN_VALUE;
  private long lastNanos = Long.MIN_VALUE;
  private long offered;
  private long lost;
  private long overflowed;

  /** A direction at rest, whose random numbers come from that seed. */
  public PathDirection(PathSettings settings, long seed) {
    this.settings = settings;
    losses = new SplittableRandom(seed);
    times = losses.split();
  }

  /**
   * When a packet that arrives now comes out at the other end.
   *
   * @param nowNanos not less than at the last call
   * @return on the same clock, never earlier than the packet before, or {@link #LOST}
   */
  public long admit(long nowNanos, int bytes) {
    offered++;
    if (isLost()) {
      lost++;
      return LOST;
    }
    long departs = transmit(nowNanos, bytes);
    if (departs == LOST) {
      overflowed++;
      return LOST;
    }
    long due = departs + settings.delayNanos();
    if (settings.jitterNanos() > 0) {
      due += times.nextLong(settings.jitterNanos() + 1);
    }
    lastNanos = Math.max(lastNanos, due);
    return lastNanos;
  }

  private boolean isLost() {
    return settings.loss() > 0 && losses.nextDouble() < settings.loss();
  }

  private long transmit(long nowNanos, int bytes) {
    if (settings.bitsPerSecond() == 0) {
      return nowNanos;
    }
    double bytesPerNano = settings.bitsPerSecond() / 8e9;
    long begins = Math.max(freeNanos, nowNanos);
    double waiting = (begins - nowNanos) * bytesPerNano;
    if (waiting + bytes > settings.queueLimitBytes()) {
      return LOST;
    }
    freeNanos = begins + Math.max(1, Math.round(bytes / bytesPerNano));
    return freeNanos;
  }

  /** Packets that arrived. */
  public long offered() {
    return offered;
  }

  /** Packets lost at random. */
  public long lost() {
    return lost;
  }

  /** Packets that found the queue full. */
  public long overflowed() {
    return overflowed;
  }
}
