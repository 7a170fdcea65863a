package io.kamille.core.origin.send;

import java.util.concurrent.TimeUnit;

/** How many requests may be sent once more, so that retries never become the load. Confined. */
final class RetryBudget {

  /*
   * Each request earns a fifth of a retry, each retry costs one, and no more than a hundred are
   * saved up. In a general outage retries add at most 20 % to the load; a few lost connections are
   * retried at once. It begins with ten in hand, for an upstream that is asked little.
   */
  private static final int PRICE = 5;
  private static final int MOST = 100 * PRICE;

  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final int MOST_DOUBLINGS = 3;

  private int balance = 10 * PRICE;

  /** A request was sent for the first time. */
  void earn() {
    if (balance < MOST) {
      balance++;
    }
  }

  /** Whether one may be sent again. */
  boolean has() {
    return balance >= PRICE;
  }

  /** Whether one may be sent again; it is paid for then. */
  boolean spend() {
    if (!has()) {
      return false;
    }
    balance -= PRICE;
    return true;
  }

  /**
   * How long a retry waits.
   *
   * @param retry its number, 1 for the first
   * @param chance from 0 to 1
   */
  static long pauseNanos(int retry, double chance) {
    return retry <= 1
        ? 0
        : (long) ((FIRST_PAUSE_NANOS << Math.min(retry - 2, MOST_DOUBLINGS)) * chance);
  }
}
