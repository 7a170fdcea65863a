package io.kamille.core;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** Waiting for what other threads do, with an end to it. */
public final class Await {

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long STILL_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  private Await() {}

  /** Waits until the claim holds. */
  public static void until(BooleanSupplier claim) {
    until(claim, "the claim holds");
  }

  /** The same; a failure names the claim. */
  public static void until(BooleanSupplier claim, String what) {
    long start = System.nanoTime();
    while (!claim.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new AssertionError("waited in vain until " + what);
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  /** Waits for another thread's sign. */
  public static void opened(CountDownLatch gate) {
    until(() -> gate.getCount() == 0, "a gate opens");
  }

  /** Waits until a count has stopped to grow, and says where. */
  public static long still(LongSupplier count) {
    long last = count.getAsLong();
    long since = System.nanoTime();
    while (System.nanoTime() - since < STILL_NANOS) {
      LockSupport.parkNanos(LOOK_NANOS);
      long now = count.getAsLong();
      if (now != last) {
        last = now;
        since = System.nanoTime();
      }
    }
    return last;
  }
}
