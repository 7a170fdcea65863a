package io.kamille.cache.memory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what the arena's thread is about to do. */
public final class TestMemory {

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private TestMemory() {}

  static void awaitFree(Arena arena) {
    await("free memory", () -> arena.usedBytes() == 0 && arena.renewingBytes() == 0);
  }

  /** Until that is so, or too long. */
  public static void await(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new AssertionError("waited in vain: " + what);
      }
      LockSupport.parkNanos(200_000);
    }
  }
}
