package io.kamille.cache.tiers;

import io.kamille.cache.index.CaffeineIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import org.jspecify.annotations.Nullable;

/** The memory that responses on their way take, and what has to leave for them. Any thread. */
final class MemoryRoom {

  /*
   * The index is asked before memory is taken whether a response is worth it, and again when one
   * of unknown length turns out to be large. It keeps some memory free. When that is not enough, so
   * much is evicted that the free memory would suffice. Readers may hold evicted content, so a few
   * rounds get past a few slow readers; forgetting the whole cache for one response would help
   * nobody. Nor is more evicted for what comes free soon anyhow: this response goes past, the next
   * finds room.
   *
   * A round evicts a few keys only, because a loop is held up meanwhile. What a large response
   * needs beyond that is evicted by the index thread, and this response goes past, too.
   */
  private static final int ROUNDS = 8;

  private final Arena arena;
  private final CaffeineIndex index;

  MemoryRoom(Arena arena, CaffeineIndex index) {
    this.arena = arena;
    this.index = index;
  }

  /** Takes memory for a response, or null if there is not enough, whatever leaves. */
  @Nullable ArenaWriter writer(long lengthBytes, int home) {
    ArenaWriter writer = arena.writer(lengthBytes, home);
    if (writer == null && makeRoom(lengthBytes)) {
      writer = arena.writer(lengthBytes, home);
    }
    if (writer != null) {
      index.taken(lengthBytes);
    }
    return writer;
  }

  /** Whether a response under that key is worth its memory when it has that length. */
  boolean stillPays(CacheKey key, long lengthBytes) {
    return index.wouldAdmit(key, lengthBytes);
  }

  /** A response on its way has taken so much more. */
  void taken(long bytes) {
    index.taken(bytes);
  }

  /** Forgets what is coldest until {@code bytes} are free; false if that does not succeed. */
  boolean makeRoom(long bytes) {
    if (bytes > arena.capacityBytes()) {
      return false;
    }
    long wanted = missing(bytes);
    long evicted = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long missing = missing(bytes);
      long step = missing <= 0 ? 0 : index.evict(missing);
      if (step == 0) {
        break;
      }
      evicted += step;
    }
    if (evicted < wanted) {
      index.evictSoon(wanted - evicted);
    }
    return bytes <= arena.freeBytes();
  }

  private long missing(long bytes) {
    return bytes - arena.freeBytes() - arena.renewingBytes();
  }
}
