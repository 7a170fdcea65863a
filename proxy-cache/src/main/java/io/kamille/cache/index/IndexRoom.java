package io.kamille.cache.index;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.Variants;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What the entries of an index take, and the room that is made for more: by the policy, or by LRU
 * where the policy makes none. Any thread, but {@link #keepSpare}, {@link #worked} and {@link
 * #failed} belong to the index thread.
 */
final class IndexRoom {

  /*
   * Weights are counted in units of 64 octets, the arena's granule, so that an int holds any. Each
   * key is charged what it takes on the heap too; that is granted before the key comes in, and
   * given back when it has left.
   *
   * Caffeine evicts when it comes to it. So the index thread also keeps a 64th of the capacity free
   * for what is on its way, by the same policy. If the policy makes no room, whichever it is, room
   * is made by LRU, from samples of the entries: the maintenance threw, it is behind, or room is
   * needed before it has run. Each of the three is said once, and counted.
   */
  static final int UNIT_BYTES = 64;

  /** How many keys a loop evicts in one call. */
  static final int STEP = Math.min(32, PolicyCache.CHANGES_MAXIMUM / 8);

  private static final int HEAP_BYTES_PER_KEY = 112;
  private static final int SPARE_DIVISOR = 64;
  private static final int ROUNDS = 8;
  private static final int PAUSES_MAXIMUM = 10;
  private static final long PAUSE_NANOS = 100_000;

  /** Why the policy has not made room. */
  private enum Reason {
    FAILED("the maintenance of the order failed"),
    BEHIND("the maintenance of the order is behind"),
    NO_ROOM("the policy had made no room when some was needed");

    private final String text;

    Reason(String text) {
      this.text = text;
    }
  }

  private final long capacityUnits;
  private final IndexMemory memory;
  private final PolicyCache<CacheKey, Variants> cache;
  private final Queue<Variants> evicted;
  private final Upkeep upkeep;
  private final System.Logger log;

  private final AtomicLong units = new AtomicLong();
  private final AtomicLong heapUnits = new AtomicLong();

  /** What was taken of short memory since the index thread last looked. */
  private final AtomicLong wantedUnits = new AtomicLong();

  /** What one response needs that its loop could not evict at once. */
  private final AtomicLong roomUnits = new AtomicLong();

  private final LongAdder evictions = new LongAdder();
  private final LongAdder fallbackEvictions = new LongAdder();
  private final LongAdder failures = new LongAdder();

  /** One bit for each reason. */
  private final AtomicInteger said = new AtomicInteger();

  // Volatile: set by the index thread, read by all.
  private volatile boolean isFailed;

  /**
   * Room in that cache.
   *
   * @param evicted where the cache puts what it evicts
   */
  IndexRoom(
      long capacityUnits,
      IndexMemory memory,
      PolicyCache<CacheKey, Variants> cache,
      Queue<Variants> evicted,
      Upkeep upkeep,
      System.Logger log) {
    this.capacityUnits = capacityUnits;
    this.memory = memory;
    this.cache = cache;
    this.evicted = evicted;
    this.upkeep = upkeep;
    this.log = log;
  }

  // What the entries take

  /** What a key weighs, with what is under it. */
  static int units(Variants variants) {
    long units = Math.ceilDiv(variants.allOccupiedBytes(), UNIT_BYTES) + (long) heapUnits(variants);
    return (int) Math.min(units, Integer.MAX_VALUE);
  }

  /** What a key and what is under it take on the heap, nearly. */
  static int heapUnits(Variants variants) {
    return (int) Math.ceilDiv(HEAP_BYTES_PER_KEY + variants.heapBytes(), UNIT_BYTES);
  }

  /** Has that much of the heap granted, by evicting if need be. */
  boolean obtain(int wanted) {
    for (int round = 0; round < ROUNDS; round++) {
      if (charge(wanted)) {
        return true;
      }
      if (evict(wanted) == 0) {
        return false;
      }
    }
    return charge(wanted);
  }

  /** Asks for that much more of the heap; of less than nothing, all is granted. */
  boolean charge(int moreUnits) {
    return memory.charge((long) moreUnits * UNIT_BYTES);
  }

  /** Gives heap back that was granted. */
  void giveBack(int granted) {
    boolean isGranted = charge(-granted);
    assert isGranted : "less is always granted";
  }

  /** What is under a key has changed. */
  void count(@Nullable Variants before, @Nullable Variants after) {
    units.addAndGet((after == null ? 0L : units(after)) - (before == null ? 0L : units(before)));
    heapUnits.addAndGet(
        (after == null ? 0L : heapUnits(after)) - (before == null ? 0L : heapUnits(before)));
  }

  /** A key has left: ends the leases of what was under it, and what it is charged. */
  void left(Variants last) {
    count(last, null);
    giveBack(heapUnits(last));
    last.releaseExcept(null);
  }

  /** What all entries weigh. */
  long units() {
    return units.get();
  }

  long heapUnits() {
    return heapUnits.get();
  }

  // Room for more

  /** Evicts a few keys, up to that weight, by LRU; tells how much it was. */
  long evict(long wanted) {
    upkeep.hurry();
    if (isFailed) {
      return evictByLru(wanted, STEP, Reason.FAILED);
    }
    return cache.isFull()
        ? 0
        : evictByLru(wanted, STEP, cache.isBehind() ? Reason.BEHIND : Reason.NO_ROOM);
  }

  @CanIgnoreReturnValue
  private long evictByLru(long wanted, int most, Reason reason) {
    say(reason, null);
    return cache.evictBySample(
        wanted,
        most,
        last -> {
          fallbackEvictions.increment();
          end(last);
        });
  }

  private void say(Reason reason, @Nullable Throwable thrown) {
    int bit = 1 << reason.ordinal();
    if ((said.get() & bit) == 0 && (said.getAndUpdate(bits -> bits | bit) & bit) == 0) {
      String message =
          "memory: evicting by LRU, from samples, because " + reason.text + " (said once)";
      log.log(Level.WARNING, message, thrown);
    }
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
    if (memory.freeBytes() < spareUnits() * UNIT_BYTES) {
      wantedUnits.addAndGet(Math.ceilDiv(bytes, UNIT_BYTES));
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
    left(last);
  }

  // On the index thread

  /**
   * What readers hold does not come free at once, so no more is evicted than was taken. Whoever
   * asks for room meanwhile may find it in what is evicted, or asks again.
   */
  void keepSpare() {
    long taken = wantedUnits.getAndSet(0);
    long spare = Math.min(taken, spareUnits() - memory.freeBytes() / UNIT_BYTES);
    long missing = Math.max(spare, roomUnits.getAndSet(0));
    if (missing > 0) {
      cache.evictByPolicy(missing, this::end);
      roomUnits.set(0);
    }
  }

  /** The maintenance did what it should. */
  void worked() {
    isFailed = false;
  }

  /** The maintenance threw: goes on by LRU until it works again. */
  void failed(Throwable thrown) {
    isFailed = true;
    failures.increment();
    say(Reason.FAILED, thrown);
    evictByLru(units() - capacityUnits, Integer.MAX_VALUE, Reason.FAILED);
  }

  long evictions() {
    return evictions.sum();
  }

  long fallbackEvictions() {
    return fallbackEvictions.sum();
  }

  /** How often the maintenance threw, and how often what comes after that did. */
  long failures() {
    return failures.sum() + upkeep.failures();
  }
}
