package io.kamille.core.client.open;

import io.kamille.core.client.IdleTimeout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts client connections over all loops, says when there are too many, and how long they may be
 * idle before there are. Any thread.
 */
public final class ConnectionLimiter implements IdleTimeout {

  private final AtomicInteger open = new AtomicInteger();
  private final LongAdder refused = new LongAdder();
  private final LongAdder acceptFailures = new LongAdder();
  private volatile Bounds bounds;

  private record Bounds(int limit, IdleTimeoutGovernor governor) {}

  /** A limiter that lets {@code limit} connections be open at a time. */
  public ConnectionLimiter(int limit, IdleTimeoutGovernor governor) {
    bounds = new Bounds(limit, governor);
  }

  /** New bounds; connections that are open stay. */
  public void limit(int limit, IdleTimeoutGovernor governor) {
    bounds = new Bounds(limit, governor);
  }

  /** Counts a connection that has come; whether it is within the limit. */
  boolean enter() {
    return open.incrementAndGet() <= bounds.limit;
  }

  /** Whether more connections are open than may be. */
  boolean isOver() {
    return open.get() > bounds.limit;
  }

  /** A connection that had entered was closed because there was no place for it. */
  void refuse() {
    refused.increment();
  }

  /** Counts an attempt to accept that failed. */
  void failToAccept() {
    acceptFailures.increment();
  }

  /** Counts a connection that is gone. */
  void leave() {
    open.decrementAndGet();
  }

  @Override
  public long nanos(long configuredNanos, int leaving) {
    Bounds now = bounds;
    return now.governor.idleTimeoutNanos(open.get() - leaving, now.limit, configuredNanos);
  }

  /** Connections open now. */
  public int open() {
    return open.get();
  }

  /** Connections closed as soon as they came because there were too many. */
  public long refused() {
    return refused.sum();
  }

  /** Attempts to accept a connection that failed, mostly for want of a file descriptor. */
  public long acceptFailures() {
    return acceptFailures.sum();
  }
}
