package io.kamille.cache.memory;

import io.kamille.core.Await;
import java.util.concurrent.TimeUnit;

/** Waits for what the arena's thread is about to do. */
public final class TestMemory {

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private TestMemory() {}

  static void awaitFree(Arena arena) {
    Await.until(() -> arena.usedBytes() == 0 && arena.renewingBytes() == 0, "free memory");
  }
}
