package io.kamille.cache.tiers;

import io.kamille.cache.index.CaffeineIndex;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;

/**
 * A store in memory that is filled without a proxy. Confined.
 *
 * @param arena that closing this closes
 * @param index that closing this closes
 */
public record FilledStore(Arena arena, PurgeTable purges, CaffeineIndex index, TieredStore store)
    implements AutoCloseable {

  /** An empty one. */
  public static FilledStore open(long arenaBytes) {
    Arena arena = Arena.open(arenaBytes);
    var purges = new PurgeTable();
    var index =
        CaffeineIndex.open(
            TieredStore.indexCapacityBytes(arenaBytes),
            PolicyChoice.AUTO,
            changeBytes -> true,
            WallClock.system());
    return new FilledStore(arena, purges, index, new TieredStore(arena, index, purges));
  }

  /** The key under which a response to a GET is stored. */
  public static CacheKey key(String uri) {
    return CacheKey.of(RequestHead.of("GET", uri));
  }

  /**
   * Stores a response with content of zeros.
   *
   * @return how many octets it has
   */
  public int put(String uri, ResponseHead head, int contentLength) {
    return put(uri, head, StoredFacts.of(head, CachePolicy.DEFAULT, 0, 0), contentLength);
  }

  /** The same with other facts than those of its head. */
  public int put(String uri, ResponseHead head, StoredFacts facts, int contentLength) {
    CacheKey key = key(uri);
    ByteBuf octets = Unpooled.buffer();
    EncodedHead encoded = ResponseCodec.encode(uri, head, octets);
    octets.writeZero(contentLength);
    int length = octets.readableBytes();
    Reservation reservation = store.reserve(length, 0);
    if (reservation == null || !reservation.append(octets)) {
      throw new IllegalStateException("the arena is too small");
    }
    octets.release();
    store
        .commit(
            key,
            reservation,
            store.moment(key),
            filled -> StoredResponse.of(encoded, filled, facts, SelectingFields.NONE))
        .release();
    index.pause();
    return length;
  }

  /** Octets of this process's heap that are in use after collections. */
  public static long liveBytes() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  @Override
  public void close() {
    store.clear();
    index.close();
    arena.close();
  }
}
