package io.kamille.core.upstream;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Whether an origin deserves requests, judged by how its last ones ended. Any thread. */
public final class OriginHealth {

  /*
   * An origin is in until so many requests in a row have failed. Then it is out for a while; after
   * that, whoever is first to claim the probe sends it one request and nobody else does, until that
   * one has ended or the while has passed again. A success ends it all.
   *
   * The time until which it is out means something only while it is out, so the two need no common
   * update: who reads an old time claims a probe too early or too late, once.
   */
  private final int failuresUntilOut;
  private final long outForNanos;
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicLong outUntilNanos = new AtomicLong();
  private final LongAdder failuresInAll = new LongAdder();

  /**
   * A healthy start.
   *
   * @param failuresUntilOut failures in a row that put the origin out
   * @param outForNanos how long it is left alone then
   */
  public OriginHealth(int failuresUntilOut, long outForNanos) {
    this.failuresUntilOut = failuresUntilOut;
    this.outForNanos = outForNanos;
  }

  /** Whether requests may go to the origin as usual. */
  public boolean isIn() {
    return failures.getAcquire() < failuresUntilOut;
  }

  /** Failures since the start, also those that a success followed. */
  public long failuresInAll() {
    return failuresInAll.sum();
  }

  /** Whether the caller, and nobody else, may try the origin with one request now. */
  public boolean claimProbe(long nowNanos) {
    long until = outUntilNanos.get();
    return nowNanos - until >= 0
        && !isIn()
        && outUntilNanos.compareAndSet(until, nowNanos + outForNanos);
  }

  /** How long the origin is still left alone; the least bad of all that are out has the least. */
  long remainingOutNanos(long nowNanos) {
    return isIn() ? 0 : outUntilNanos.get() - nowNanos;
  }

  /** The origin gave an answer. */
  public void succeeded() {
    if (failures.getAcquire() != 0) {
      failures.set(0);
    }
  }

  /** The origin could not be reached, or gave no proper answer. */
  public void failed(long nowNanos) {
    failuresInAll.increment();
    if (failures.get() + 1 >= failuresUntilOut) {
      outUntilNanos.set(nowNanos + outForNanos);
    }
    failures.getAndUpdate(count -> Math.min(count + 1, failuresUntilOut));
  }
}
