package io.kamille.cache.tiers;

import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.store.StoredOctets;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Room in the store that a fill writes into; others may read along. Ended by exactly one of {@link
 * Store#put}, {@link #finish} or {@link #abandon}.
 *
 * <p>Confined to one thread at a time.
 */
public final class Reservation {

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

  /** What any response may grow to; from there on, each doubling is asked for. */
  private static final long UNASKED_BYTES = 16 << 10;

  private final Arena arena;
  private final MemoryIndex index;
  private final ArenaWriter writer;
  private final @Nullable CacheKey key;

  /** Up to which length it is known whether it pays. */
  private long decidedBytes;

  private boolean isOutweighed;

  private Reservation(
      Arena arena,
      MemoryIndex index,
      ArenaWriter writer,
      long lengthBytes,
      @Nullable CacheKey key) {
    this.arena = arena;
    this.index = index;
    this.writer = writer;
    this.key = key;
    this.decidedBytes = Math.max(lengthBytes, UNASKED_BYTES);
  }

  /**
   * Takes memory for a response.
   *
   * @param key under which to ask whether more room pays; null for room at any price
   * @return null if there is not enough, whatever leaves
   */
  static @Nullable Reservation open(
      Arena arena, MemoryIndex index, long lengthBytes, int home, @Nullable CacheKey key) {
    ArenaWriter writer = arena.writer(lengthBytes, home);
    if (writer == null && makeRoom(arena, index, lengthBytes)) {
      writer = arena.writer(lengthBytes, home);
    }
    if (writer == null) {
      return null;
    }
    index.taken(lengthBytes);
    return new Reservation(arena, index, writer, lengthBytes, key);
  }

  /** Forgets what is coldest until {@code bytes} are free; false if that does not succeed. */
  private static boolean makeRoom(Arena arena, MemoryIndex index, long bytes) {
    if (bytes > arena.capacityBytes()) {
      return false;
    }
    long wanted = missing(arena, bytes);
    long evicted = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long missing = missing(arena, bytes);
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

  private static long missing(Arena arena, long bytes) {
    return bytes - arena.freeBytes() - arena.renewingBytes();
  }

  /** What has been written so far. Readers take leases of their own, while this is not ended. */
  public StoredOctets octets() {
    return writer.bytes();
  }

  /** How many octets have been written. */
  public long length() {
    return writer.length();
  }

  /**
   * Copies the readable octets of {@code content}, which it borrows until it returns and whose
   * indices stay; makes room for them if need be.
   *
   * @return false if there is no memory, even with everything forgotten that can be and that is
   *     worth less; then nothing was written
   */
  public boolean append(ByteBuf content) {
    int more = content.readableBytes();
    long length = writer.length() + more;
    if (length > decidedBytes && !grow(length, more)) {
      return false;
    }
    return writer.append(content) || (makeRoom(arena, index, more) && writer.append(content));
  }

  private boolean grow(long length, int more) {
    isOutweighed = key != null && !index.wouldAdmit(key, length);
    if (!isOutweighed) {
      decidedBytes = 2 * length;
      index.taken(more);
    }
    return !isOutweighed;
  }

  /** Whether the last thing to be written was refused for what is worth more. */
  public boolean isOutweighed() {
    return isOutweighed;
  }

  /** Gives the room back. Readers keep what was written until their leases end. */
  public void abandon() {
    writer.abandon();
  }

  /** Ends the writing and hands its lease to the caller. */
  public StoredOctets finish() {
    return writer.commit();
  }
}
