package io.kamille.cache.memory;

import io.kamille.core.Await;

/** Waits for what the arena's thread is about to do. */
public final class TestMemory {

  private TestMemory() {}

  static void awaitFree(Arena arena) {
    Await.until(() -> arena.usedBytes() == 0 && arena.renewingBytes() == 0, "free memory");
  }
}
