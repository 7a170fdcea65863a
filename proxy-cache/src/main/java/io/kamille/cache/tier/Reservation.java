package io.kamille.cache.tier;

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

  private final TieredStore store;
  private final ArenaWriter writer;
  private final @Nullable CacheKey key;
  private boolean isOutweighed;

  /**
   * Room that the writer has.
   *
   * @param key under which to ask whether more room pays; null for room at any price
   */
  Reservation(TieredStore store, ArenaWriter writer, @Nullable CacheKey key) {
    this.store = store;
    this.writer = writer;
    this.key = key;
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
    return writer.append(content) || (pays(more) && store.makeRoom(more) && writer.append(content));
  }

  private boolean pays(int more) {
    isOutweighed = key != null && !store.pays(key, writer.length() + more, more);
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
