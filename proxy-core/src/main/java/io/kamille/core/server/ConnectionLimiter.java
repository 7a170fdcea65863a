package io.kamille.core.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Counts client connections over all loops and says when there are too many. Any thread. */
public final class ConnectionLimiter {

  private final AtomicInteger open = new AtomicInteger();
  private final LongAdder refused = new LongAdder();
  private volatile int limit;

  /** A limiter that lets {@code limit} connections be open at a time. */
  public ConnectionLimiter(int limit) {
    this.limit = limit;
  }

  /** A new limit; connections that are open stay. */
  public void limit(int limit) {
    this.limit = limit;
  }

  /** Takes a place; false, and counted as refused, if there is none. */
  boolean enter() {
    if (open.incrementAndGet() <= limit) {
      return true;
    }
    open.decrementAndGet();
    refused.increment();
    return false;
  }

  /** Gives the place back. */
  void leave() {
    open.decrementAndGet();
  }

  /** Connections open now. */
  public int open() {
    return open.get();
  }

  /** Connections closed at once because there were too many. */
  public long refused() {
    return refused.sum();
  }
}
