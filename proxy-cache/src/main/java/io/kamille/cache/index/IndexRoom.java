package io.kamille.cache.index;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.Variants;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes room in an index: by its policy, or by LRU where the policy makes none. Any thread, but
 * {@link #keepSpare} and {@link #failed} belong to the index thread.
 */
final class IndexRoom {

  /*
   * Caffeine evicts when it comes to it. So the index thread also keeps a 64th of the capacity free
   * for what is on its way, by the same policy. If the policy makes no room, it is made by LRU,
   * from samples of the entries: the maintenance threw, it is behind, or room is needed before it
   * has run. Each of the three is said once, and counted.
   */
  private static final int SPARE_DIVISOR = 64;

  private static final int PAUSES_MAXIMUM = 10;
  private static final long PAUSE_NANOS = 100_000;

  /** How many keys a loop evicts in one call. */
  static final int STEP = Math.min(32, PolicyCache.CHANGES_MAXIMUM / 8);

  private final long capacityUnits;
  private final IndexMemory memory;
  private final PolicyCache<CacheKey, Variants> cache;
  private final IndexAccounts accounts;
  private final Queue<Variants> evicted;
  private final Upkeep upkeep;
  private final Fallback fallback;

  /** What was taken of short memory since the index thread last looked. */
  private final AtomicLong wantedUnits = new AtomicLong();

  /** What one response needs that its loop could not evict at once. */
  private final AtomicLong roomUnits = new AtomicLong();

  private final LongAdder evictions = new LongAdder();

  /**
   * Room in that cache.
   *
   * @param evicted where the cache puts what it evicts
   */
  IndexRoom(
      long capacityUnits,
      IndexMemory memory,
      PolicyCache<CacheKey, Variants> cache,
      IndexAccounts accounts,
      Queue<Variants> evicted,
      Upkeep upkeep,
      Fallback fallback) {
    this.capacityUnits = capacityUnits;
    this.memory = memory;
    this.cache = cache;
    this.accounts = accounts;
    this.evicted = evicted;
    this.upkeep = upkeep;
    this.fallback = fallback;
  }

  /** Evicts a few keys, up to that weight, by LRU; tells how much it was. */
  long evict(long wanted) {
    upkeep.hurry();
    boolean mayWait = cache.isFull() && !fallback.isFailed();
    return mayWait ? 0 : evictByLru(wanted, STEP, reason());
  }

  private Fallback.Reason reason() {
    if (fallback.isFailed()) {
      return Fallback.Reason.FAILED;
    }
    return cache.isBehind() ? Fallback.Reason.BEHIND : Fallback.Reason.NO_ROOM;
  }

  private long evictByLru(long wanted, int most, Fallback.Reason reason) {
    fallback.begin(reason);
    return cache.evictBySample(
        wanted,
        most,
        last -> {
          fallback.count();
          end(last);
        });
  }

  /**
   * Has the maintenance begin before changes fill Caffeine's buffer, which would make a loop do it.
   */
  void hurryIfBusy() {
    if (cache.isBusy()) {
      upkeep.hurry();
    }
  }

  /** Waits, for a moment at most, while the order has many changes to take in. */
  void pause() {
    for (int i = 0; i < PAUSES_MAXIMUM && cache.isBusy(); i++) {
      upkeep.hurry();
      LockSupport.parkNanos(this, PAUSE_NANOS);
    }
  }

  /** Has so much evicted by the index thread, soon. */
  void evictSoon(long wanted) {
    roomUnits.accumulateAndGet(wanted, Math::max);
    upkeep.hurry();
  }

  /** So much memory was taken for a response. */
  void taken(long bytes) {
    if (memory.freeBytes() < spareUnits() * IndexAccounts.UNIT_BYTES) {
      wantedUnits.addAndGet(Math.ceilDiv(bytes, IndexAccounts.UNIT_BYTES));
      upkeep.ask();
    }
  }

  private long spareUnits() {
    return capacityUnits / SPARE_DIVISOR;
  }

  /** Gives back what the cache has evicted. */
  void endEvicted() {
    for (Variants last = evicted.poll(); last != null; last = evicted.poll()) {
      end(last);
    }
  }

  private void end(Variants last) {
    evictions.increment();
    accounts.left(last);
  }

  // On the index thread

  /**
   * What readers hold does not come free at once, so no more is evicted than was taken. Whoever
   * asks for room meanwhile may find it in what is evicted, or asks again.
   */
  void keepSpare() {
    long taken = wantedUnits.getAndSet(0);
    long spare = Math.min(taken, spareUnits() - memory.freeBytes() / IndexAccounts.UNIT_BYTES);
    long missing = Math.max(spare, roomUnits.getAndSet(0));
    if (missing > 0) {
      cache.evictByPolicy(missing, this::end);
      roomUnits.set(0);
    }
  }

  /** The maintenance did what it should. */
  void worked() {
    if (fallback.isFailed()) {
      cache.restClock();
    }
    fallback.worked();
  }

  /** The maintenance threw: goes on by LRU until it works again. */
  void failed(Throwable thrown) {
    fallback.failed(thrown);
    cache.moveClock();
    evictByLru(accounts.units() - capacityUnits, Integer.MAX_VALUE, Fallback.Reason.FAILED);
  }

  long evictions() {
    return evictions.sum();
  }

  /** How often the maintenance threw, and how often what comes after that did. */
  long failures() {
    return fallback.failures() + upkeep.failures();
  }

  long fallbackEvictions() {
    return fallback.evictions();
  }
}
