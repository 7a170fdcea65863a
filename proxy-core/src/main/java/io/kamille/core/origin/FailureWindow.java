package io.kamille.core.origin;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** How many of an origin's last requests came to nothing. Any thread. */
final class FailureWindow {

  /*
   * Time is cut into windows of ten seconds, and only the present one counts. Within it the
   * failures in a row count by themselves: many successes just before say nothing of an origin that
   * fails now. In a row means as requests end, so one that runs long and well interrupts nothing; a
   * few failures a minute among such are no row, because none outlasts its window. All of it is one
   * word, so that a loop counts by one exchange of the word:
   *
   *   63        45 44   40 39       20 19        0
   *   | window 19 | run 5 | failed 20 | all 20   |
   *
   * Few requests say little: fewer than 20 are not judged.
   */
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int LEAST = 20;
  private static final int BITS = 20;
  private static final int RUN_BITS = 5;
  private static final long MOST = (1L << BITS) - 1;
  private static final long MOST_RUN = (1L << RUN_BITS) - 1;
  private static final int WINDOW_SHIFT = 2 * BITS + RUN_BITS;
  private static final long WINDOW_MASK = (1L << (Long.SIZE - WINDOW_SHIFT)) - 1;

  private final AtomicLong word = new AtomicLong();

  /**
   * Counts one request; whether failures are too many now.
   *
   * @param limit the share of failures that is too much, as are 20 in a row; above 1 nothing is
   */
  boolean count(boolean hasFailed, double limit, long nowNanos) {
    long window = Math.floorDiv(nowNanos, WINDOW_NANOS) & WINDOW_MASK;
    while (true) {
      long last = word.get();
      long next = counted(last, window, hasFailed);
      if (word.compareAndSet(last, next)) {
        return hasFailed && isTooMuch(next, limit);
      }
    }
  }

  private static boolean isTooMuch(long word, double limit) {
    return (all(word) >= LEAST && failed(word) >= limit * all(word))
        || (run(word) >= LEAST && limit <= 1);
  }

  private static long counted(long last, long window, boolean hasFailed) {
    boolean isSame = last >>> WINDOW_SHIFT == window;
    long all = isSame ? all(last) : 0;
    long failed = isSame ? failed(last) : 0;
    long run = hasFailed ? Math.min((isSame ? run(last) : 0) + 1, MOST_RUN) : 0;
    if (all == MOST) {
      all >>= 1;
      failed >>= 1;
    }
    return (window << WINDOW_SHIFT)
        | (run << (2 * BITS))
        | ((failed + (hasFailed ? 1 : 0)) << BITS)
        | (all + 1);
  }

  private static long all(long word) {
    return word & MOST;
  }

  private static long failed(long word) {
    return word >>> BITS & MOST;
  }

  private static long run(long word) {
    return word >>> (2 * BITS) & MOST_RUN;
  }

  /** Forgets what was counted. */
  void clear() {
    word.set(0);
  }
}
