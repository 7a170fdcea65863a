package io.kamille.cache.tier;

import io.kamille.cache.index.ResponseIndex;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.semantics.CacheKey;
import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The stored responses of all routes: an index, and the arena their octets lie in. Any thread. */
public final class TieredStore {

  /*
   * A response that was on its way when its key was purged or invalidated must not be stored
   * afterwards: it may be older than the reason for the purge. So removals are counted, per stripe
   * of keys; a fill remembers the count from before its request was forwarded, and commits only
   * if nothing was removed since. After the put it looks again, because a removal counts first and
   * removes then: whichever comes second sees the other. Two keys in one stripe cost at most one
   * response that could have been stored; every unsafe request removes, so there are many
   * stripes.
   *
   * When memory is short, so much of the coldest is forgotten that the free memory would suffice.
   * What readers still hold does not come free at once; a few rounds are enough to get past a
   * few slow readers, and forgetting the whole cache for one response would help nobody. Nor is
   * more forgotten for what comes free soon anyhow: this response goes past, the next finds room.
   */
  private static final int STRIPES = 1 << 17;
  private static final int ROUNDS = 8;

  private final Arena arena;
  private final ResponseIndex index;
  private final AtomicIntegerArray removals = new AtomicIntegerArray(STRIPES);
  private final AtomicLong clears = new AtomicLong();

  /** A store over an arena that stays the caller's to close, when everything is released. */
  public TieredStore(Arena arena, ResponseIndex index) {
    this.arena = arena;
    this.index = index;
  }

  /**
   * How much of an arena an index may fill: the rest is for fills on their way and for what is
   * forgotten and still read.
   */
  public static long indexCapacityBytes(long arenaCapacityBytes) {
    return arenaCapacityBytes - Math.min(arenaCapacityBytes / 16, 512L << 20);
  }

  /** The variants under that key, or null. Takes no lease, keeps no key, allocates nothing. */
  public @Nullable Variants find(CacheKey key) {
    return index.find(key);
  }

  /** What {@link #commit} wants to know: asked before the request is forwarded. */
  public long removalsOf(CacheKey key) {
    return removals.get(stripe(key)) + clears.get();
  }

  /**
   * Makes room for a response.
   *
   * @param lengthBytes octets to come, or, when that is unknown, those there are at least
   * @param home the number of the caller's loop
   * @return null if there is not enough memory, even with everything forgotten that can be
   */
  public @Nullable Reservation reserve(long lengthBytes, int home) {
    ArenaWriter writer = arena.writer(lengthBytes, home);
    if (writer == null && makeRoom(lengthBytes)) {
      writer = arena.writer(lengthBytes, home);
    }
    return writer == null ? null : new Reservation(this, writer);
  }

  /** Makes a response of the octets of a reservation that is complete. */
  @FunctionalInterface
  public interface Completion {

    /** Takes over one lease. */
    StoredResponse of(StoredOctets octets);
  }

  /**
   * Ends a fill and makes its response visible to the next request.
   *
   * @param removalsBefore what {@link #removalsOf} said
   * @return the response with a lease that the caller owns
   */
  public StoredResponse commit(
      CacheKey key, Reservation reservation, long removalsBefore, Completion completion) {
    StoredResponse response = finish(reservation, completion);
    if (removalsOf(key) == removalsBefore) {
      response.retain();
      index.put(key, response);
      if (removalsOf(key) != removalsBefore) {
        index.remove(key);
      }
    }
    return response;
  }

  /** Ends a fill whose response nobody is to find. The caller owns one lease on it. */
  public StoredResponse finish(Reservation reservation, Completion completion) {
    return completion.of(reservation.finish());
  }

  /** Removes what is stored under that key, and says how many responses that were. */
  public int remove(CacheKey key) {
    removals.incrementAndGet(stripe(key));
    return index.remove(key);
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    clears.incrementAndGet();
    return index.clear();
  }

  /** Forgets what is coldest until {@code bytes} are free; false if that does not succeed. */
  boolean makeRoom(long bytes) {
    if (bytes > arena.capacityBytes()) {
      return false;
    }
    for (int round = 0; round < ROUNDS; round++) {
      long missing = bytes - arena.freeBytes() - arena.renewingBytes();
      if (missing <= 0 || index.evict(missing) == 0) {
        break;
      }
    }
    return bytes <= arena.freeBytes();
  }

  public long capacityBytes() {
    return arena.capacityBytes();
  }

  /** What is taken of the arena: stored, being filled, or forgotten and still read. */
  public long usedBytes() {
    return arena.usedBytes();
  }

  /** What of it never comes free: see {@link Arena#retiredBytes}. */
  public long retiredBytes() {
    return arena.retiredBytes();
  }

  /** What of it was sent without a copy: see {@link Arena#regionBytes}. */
  public long regionBytes() {
    return arena.regionBytes();
  }

  /** How many keys something is stored under; an estimate while fills go on. */
  public long size() {
    return index.size();
  }

  /** How many keys were evicted for want of room since the start. */
  public long evictions() {
    return index.evictions();
  }

  private static int stripe(CacheKey key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & (STRIPES - 1);
  }
}
