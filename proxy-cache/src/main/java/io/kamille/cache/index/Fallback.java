package io.kamille.cache.index;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * That an index evicts by LRU itself, and why: said once for each reason, and counted. Any thread.
 */
final class Fallback {

  /** Why the policy has not made room. */
  enum Reason {
    FAILED("the maintenance of the order failed"),
    BEHIND("the maintenance of the order is behind"),
    NO_ROOM("the policy had made no room when some was needed");

    private final String text;

    Reason(String text) {
      this.text = text;
    }
  }

  private final System.Logger log;
  private final AtomicReferenceArray<@Nullable Reason> said =
      new AtomicReferenceArray<>(Reason.values().length);
  private final LongAdder evictions = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private volatile boolean isFailed;

  /** Says it in that log. */
  Fallback(System.Logger log) {
    this.log = log;
  }

  /** The maintenance threw; the index evicts by itself until it works again. */
  void failed(Throwable thrown) {
    isFailed = true;
    failures.increment();
    say(Reason.FAILED, thrown);
  }

  /** The maintenance did what it should. */
  void worked() {
    if (isFailed) {
      isFailed = false;
    }
  }

  /** How often the maintenance threw. */
  long failures() {
    return failures.sum();
  }

  boolean isFailed() {
    return isFailed;
  }

  /** The index evicts by itself, for that reason. */
  void begin(Reason reason) {
    say(reason, null);
  }

  private void say(Reason reason, @Nullable Throwable thrown) {
    if (said.compareAndSet(reason.ordinal(), null, reason)) {
      String message = "memory: evicting by LRU, because " + reason.text + " (said once)";
      log.log(Level.WARNING, message, thrown);
    }
  }

  /** One key was evicted. */
  void count() {
    evictions.increment();
  }

  long evictions() {
    return evictions.sum();
  }
}
