package io.kamille.cache.tier;

import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.store.StoredOctets;
import io.netty.buffer.ByteBuf;

/**
 * Room in the store that a fill writes into; others may read along. Ended by exactly one of {@link
 * TieredStore#commit}, {@link TieredStore#finish} or {@link #abandon}.
 *
 * <p>Confined to one thread at a time.
 */
public final class Reservation {

  private final TieredStore store;
  private final ArenaWriter writer;

  Reservation(TieredStore store, ArenaWriter writer) {
    this.store = store;
    this.writer = writer;
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
   * @return false if there is no memory, even with everything forgotten that can be; then nothing
   *     was written
   */
  public boolean append(ByteBuf content) {
    return writer.append(content)
        || (store.makeRoom(content.readableBytes()) && writer.append(content));
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
