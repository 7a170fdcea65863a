package io.kamille.cache.memory;

import io.kamille.core.Await;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** What tests do with an arena. */
public final class TestMemory {

  private TestMemory() {}

  /** Waits for what the arena's thread is about to do. */
  static void awaitFree(Arena arena) {
    Await.until(() -> arena.usedBytes() == 0 && arena.renewingBytes() == 0, "free memory");
  }

  /**
   * Copies the readable octets of {@code content}, whose indices stay. The caller owns the one
   * lease of the result.
   *
   * @return null if there is not enough free memory
   */
  public static @Nullable StoredBytes store(Arena arena, ByteBuf content, int home) {
    ArenaWriter writer = arena.writer(content.readableBytes(), home);
    if (writer == null) {
      return null;
    }
    boolean appended = writer.append(content);
    assert appended;
    return writer.commit();
  }

  /** A writer for content of unknown length; it takes memory as content arrives. */
  static ArenaWriter writer(Arena arena, int home) {
    return new ArenaWriter(arena, home, 0);
  }
}
