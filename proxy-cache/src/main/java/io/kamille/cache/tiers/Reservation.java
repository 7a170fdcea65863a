package io.kamille.cache.tiers;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.store.StoredOctets;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Room in the store that a fill writes into; others may read along. Ended by exactly one of {@link
 * TieredStore#commit}, {@link TieredStore#finish} or {@link #abandon}.
 *
 * <p>Confined to one thread at a time.
 */
public final class Reservation {

  /** What any response may grow to; from there on, each doubling is asked for. */
  private static final long UNASKED_BYTES = 16 << 10;

  private final MemoryRoom room;
  private final ArenaWriter writer;
  private final @Nullable CacheKey key;

  /** Up to which length it is known whether it pays. */
  private long decidedBytes;

  private boolean isOutweighed;

  /**
   * Room that the writer has.
   *
   * @param lengthBytes how much that is
   * @param key under which to ask whether more room pays; null for room at any price
   */
  Reservation(MemoryRoom room, ArenaWriter writer, long lengthBytes, @Nullable CacheKey key) {
    this.room = room;
    this.writer = writer;
    this.key = key;
    this.decidedBytes = Math.max(lengthBytes, UNASKED_BYTES);
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
    return writer.append(content) || (room.makeRoom(more) && writer.append(content));
  }

  private boolean grow(long length, int more) {
    isOutweighed = key != null && !room.stillPays(key, length);
    if (!isOutweighed) {
      decidedBytes = 2 * length;
      room.taken(more);
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
  StoredOctets finish() {
    return writer.commit();
  }
}
