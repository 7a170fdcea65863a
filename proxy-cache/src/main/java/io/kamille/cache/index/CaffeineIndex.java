package io.kamille.cache.index;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.time.WallClock;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An index in Caffeine under W-TinyLFU or LRU, or whichever of the two hits more. Any thread; no
 * caller waits for the order of the entries.
 */
public final class CaffeineIndex implements ResponseIndex, AutoCloseable {

  /*
   * Caffeine holds the entries and chooses what to evict, on the index thread (PolicyCache). This class
   * sees to what the entries stand for: leases on responses, what they take on the heap, and who
   * may come in (SizeAdmission). The judge compares the policies by ghosts, also on the index thread.
   *
   * A change of an entry is one step of the map, in which nothing is given back: what leaves is given
   * back after the step. What Caffeine evicts waits in a queue until its maintenance is over.
   *
   * Caffeine evicts when it comes to it. So the index thread also keeps a 64th of the capacity free for
   * what is on its way, by the same policy. If the policy makes no room, the index does it itself by LRU, from samples of the entries: the maintenance threw,
   * it is behind, or room is needed before it has run. Each of the three is said once, and counted.
   *
   * Weights are counted in units of 64 octets, the arena's granule, so that an int holds any. Each key
   * is charged what it takes on the heap too; that is granted before the key comes in, and given
   * back when it has left.
   */
  static final int UNIT_BYTES = 64;
  static final long GHOST_LEAST_BYTES = 32L << 20;

  private static final int HEAP_BYTES_PER_KEY = 112;
  static final long BYTES_PER_COUNTER = 8 << 10;
  private static final int SPARE_DIVISOR = 64;
  private static final int ROUNDS = 8;

  /** How many keys a loop evicts in one call. */
  static final int STEP = Math.min(32, PolicyCache.CHANGES_MAXIMUM / 8);

  private final long capacityUnits;
  private final IndexMemory memory;
  private final WallClock clock;
  private final PolicyCache<CacheKey, Variants> cache;
  private final SizeAdmission admission;
  private final PolicyJudge judge;
  private final RequestSamples samples = new RequestSamples();
  private final Upkeep upkeep;
  private final Fallback fallback = new Fallback(System.getLogger("kamille.cache"));

  private final Queue<Variants> evicted = new ConcurrentLinkedQueue<>();
  private final AtomicLong units = new AtomicLong();
  private final AtomicLong heapUnits = new AtomicLong();

  /** What was taken of short memory since the index thread last looked. */
  private final AtomicLong wantedUnits = new AtomicLong();

  /** What one response needs that its loop could not evict at once. */
  private final AtomicLong roomUnits = new AtomicLong();

  private final LongAdder evictions = new LongAdder();
  private final LongAdder refusals = new LongAdder();

  CaffeineIndex(
      long capacityBytes,
      PolicyChoice choice,
      IndexMemory memory,
      WallClock clock,
      Function<Runnable, Upkeep> upkeep) {
    this.capacityUnits = capacityBytes / UNIT_BYTES;
    this.memory = memory;
    this.clock = clock;
    this.upkeep = upkeep.apply(this::maintain);
    this.admission = new SizeAdmission(capacityUnits, capacityBytes / BYTES_PER_COUNTER);
    this.judge =
        new PolicyJudge(
            choice, capacityUnits, GHOST_LEAST_BYTES / UNIT_BYTES, clock.epochSeconds());
    this.cache =
        new PolicyCache<>(
            choice.first(), capacityUnits, CaffeineIndex::units, evicted::add, this.upkeep::ask);
  }

  /**
   * Opens an index with a thread of its own, which ends with {@link #close}.
   *
   * @param capacityBytes it begins to evict when what is in it weighs more
   * @param clock tells since when a policy is chosen
   */
  public static CaffeineIndex open(
      long capacityBytes, PolicyChoice choice, IndexMemory memory, WallClock clock) {
    return new CaffeineIndex(capacityBytes, choice, memory, clock, IndexThread::start);
  }

  /** As {@link #open}, but whoever changes it evicts at once: for tests and measurements. */
  public static CaffeineIndex inCaller(
      long capacityBytes, PolicyChoice choice, IndexMemory memory, WallClock clock) {
    return new CaffeineIndex(capacityBytes, choice, memory, clock, Upkeep::inCaller);
  }

  /**
   * Ends the thread, and the leases of what it has evicted. The entries stay; {@link #clear} comes
   * before.
   */
  @Override
  public void close() {
    upkeep.close();
    endEvicted();
  }

  @Override
  public @Nullable Variants find(CacheKey key) {
    Variants found = cache.find(key);
    if (judge.samples(key.high())) {
      if (found == null) {
        samples.missed(key.low());
      } else {
        samples.found(key.low(), units(found));
      }
    }
    return found;
  }

  @Override
  public @Nullable Variants peek(CacheKey key) {
    return cache.peek(key);
  }

  @Override
  public boolean admits(CacheKey key, long bytes) {
    long wanted = Math.ceilDiv(bytes, UNIT_BYTES);
    boolean isAdmitted = admission.admits(cache.policy(), key.low(), wanted, usedUnits(bytes));
    if (!isAdmitted && judge.samples(key.high())) {
      samples.stored(key.low(), wanted);
    }
    return isAdmitted;
  }

  @Override
  public boolean wouldAdmit(CacheKey key, long bytes) {
    long wanted = Math.ceilDiv(bytes, UNIT_BYTES);
    return admission.wouldAdmit(cache.policy(), key.low(), wanted, usedUnits(bytes));
  }

  private long usedUnits(long wantedBytes) {
    return memory.freeBytes() < wantedBytes ? capacityUnits : units.get();
  }

  @Override
  public void put(CacheKey key, StoredResponse response) {
    if (!put(key, response, () -> true)) {
      response.forget();
    }
  }

  @Override
  public boolean put(CacheKey key, StoredResponse response, BooleanSupplier isCurrent) {
    if (cache.isBusy()) {
      upkeep.hurry();
      if (cache.isBehind()) {
        refusals.increment();
        return false;
      }
    }
    int granted = heapUnits(response);
    if (!obtain(granted)) {
      return false;
    }
    Change change = new Change();
    cache.compute(
        key, (same, before) -> isCurrent.getAsBoolean() ? change.of(before, response) : before);
    if (change.after == null) {
      giveBack(granted);
      return false;
    }
    Variants after = change.after;
    int before = change.before == null ? 0 : heapUnits(change.before);
    giveBack(granted + before - heapUnits(after));
    count(change.before, after);
    if (change.before != null) {
      change.before.releaseExcept(after);
    }
    if (judge.samples(key.high())) {
      samples.stored(key.low(), units(after));
    }
    return true;
  }

  /** What one step of the map did. */
  private static final class Change {

    private @Nullable Variants before;
    private @Nullable Variants after;

    Variants of(@Nullable Variants before, StoredResponse response) {
      this.before = before;
      Variants with = before == null ? response : before.with(response);
      this.after = with;
      return with;
    }
  }

  private void count(@Nullable Variants before, @Nullable Variants after) {
    units.addAndGet((after == null ? 0L : units(after)) - (before == null ? 0L : units(before)));
    heapUnits.addAndGet(
        (after == null ? 0L : heapUnits(after)) - (before == null ? 0L : heapUnits(before)));
  }

  /** Has that much of the heap granted, by evicting if need be. */
  private boolean obtain(int wantedUnits) {
    long bytes = (long) wantedUnits * UNIT_BYTES;
    for (int round = 0; round < ROUNDS; round++) {
      if (memory.charge(bytes)) {
        return true;
      }
      if (evict(bytes) == 0) {
        return false;
      }
    }
    return memory.charge(bytes);
  }

  private void giveBack(int granted) {
    boolean isGranted = memory.charge((long) -granted * UNIT_BYTES);
    assert isGranted : "less is always granted";
  }

  @Override
  public boolean replace(CacheKey key, StoredResponse one, @Nullable StoredResponse other) {
    Variants found = cache.peek(key);
    if (found == null || !found.contains(one)) {
      return false;
    }
    Replacement replacement = new Replacement(one, other);
    cache.compute(key, (same, before) -> before == null ? null : replacement.of(before));
    Variants before = replacement.before;
    if (before == null) {
      return false;
    }
    count(before, replacement.after);
    if (replacement.after == null) {
      giveBack(heapUnits(before));
      noteRemoval(key);
    }
    before.releaseExcept(replacement.after);
    return true;
  }

  /** What a step of the map did that puts one response into the place of another. */
  private final class Replacement {

    private final StoredResponse one;
    private final @Nullable StoredResponse other;
    private @Nullable Variants before;
    private @Nullable Variants after;

    Replacement(StoredResponse one, @Nullable StoredResponse other) {
      this.one = one;
      this.other = other;
    }

    @Nullable Variants of(Variants present) {
      if (!present.contains(one)) {
        return present;
      }
      Variants replaced = present.replacing(one, other);
      if (replaced != null) {
        int more = heapUnits(replaced) - heapUnits(present);
        if (!memory.charge((long) more * UNIT_BYTES)) {
          return present;
        }
      }
      before = present;
      after = replaced;
      return replaced;
    }
  }

  @Override
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    cache.forEach(reader);
  }

  @Override
  public int remove(CacheKey key) {
    Variants last = cache.remove(key);
    if (last == null) {
      return 0;
    }
    noteRemoval(key);
    end(last);
    return last.size();
  }

  private void noteRemoval(CacheKey key) {
    if (judge.samples(key.high())) {
      samples.removed(key.low());
    }
  }

  /** Ends the leases of what has left, and what it is charged. */
  private void end(Variants last) {
    count(last, null);
    giveBack(heapUnits(last));
    last.releaseExcept(null);
  }

  @Override
  public int clear() {
    LongAdder removed = new LongAdder();
    cache.forEach((key, variants) -> removed.add(remove(key)));
    return removed.intValue();
  }

  @Override
  public long evict(long bytes) {
    long wanted = Math.ceilDiv(bytes, UNIT_BYTES);
    long done;
    if (upkeep.isHere() && !fallback.isFailed()) {
      done = cache.evictByPolicy(wanted);
      endEvicted();
    } else {
      upkeep.hurry();
      boolean mayWait = cache.isFull() && !fallback.isFailed();
      done = mayWait ? 0 : evictByLru(wanted, mostAtOnce(), reason());
    }
    return done * UNIT_BYTES;
  }

  /** A loop evicts a few at a time; the index thread is in nobody's way. */
  private int mostAtOnce() {
    return upkeep.isHere() ? Integer.MAX_VALUE : STEP;
  }

  @Override
  public void evictSoon(long bytes) {
    roomUnits.accumulateAndGet(Math.ceilDiv(bytes, UNIT_BYTES), Math::max);
    upkeep.hurry();
  }

  private Fallback.Reason reason() {
    if (fallback.isFailed()) {
      return Fallback.Reason.FAILED;
    }
    return cache.isBehind() ? Fallback.Reason.BEHIND : Fallback.Reason.NO_ROOM;
  }

  private long evictByLru(long wantedUnits, int most, Fallback.Reason reason) {
    fallback.begin(reason);
    return cache.evictBySample(
        wantedUnits,
        most,
        last -> {
          fallback.count();
          endEvicted(last);
        });
  }

  private void endEvicted(Variants last) {
    evictions.increment();
    end(last);
  }

  @Override
  public void taken(long bytes) {
    if (memory.freeBytes() < spareUnits() * UNIT_BYTES) {
      wantedUnits.addAndGet(Math.ceilDiv(bytes, UNIT_BYTES));
      upkeep.ask();
    }
  }

  private long spareUnits() {
    return capacityUnits / SPARE_DIVISOR;
  }

  // On the index thread

  private void maintain() {
    try {
      cache.maintain();
      endEvicted();
      follow(judge.hear(samples));
      keepSpare();
      fallback.worked();
    } catch (RuntimeException | Error e) {
      fallback.failed(e);
      cache.moveClock();
      evictByLru(units.get() - capacityUnits, Integer.MAX_VALUE, Fallback.Reason.FAILED);
    }
    endEvicted();
  }

  private void endEvicted() {
    for (Variants last = evicted.poll(); last != null; last = evicted.poll()) {
      endEvicted(last);
    }
  }

  private void follow(Policy advice) {
    if (advice != cache.policy()) {
      cache.choose(advice);
      judge.switched(advice, clock.epochSeconds());
    }
  }

  /** What readers hold does not come free at once, so no more is evicted than was taken. */
  private void keepSpare() {
    long taken = wantedUnits.getAndSet(0);
    long spare = Math.min(taken, spareUnits() - memory.freeBytes() / UNIT_BYTES);
    long missing = Math.max(spare, roomUnits.getAndSet(0));
    if (missing > 0) {
      cache.evictByPolicy(missing);
    }
  }

  @Override
  public long size() {
    return cache.size();
  }

  @Override
  public long weightBytes() {
    return units.get() * UNIT_BYTES;
  }

  @Override
  public long heapBytes() {
    return heapUnits.get() * UNIT_BYTES;
  }

  @Override
  public long evictions() {
    return evictions.sum();
  }

  @Override
  public long fallbackEvictions() {
    return fallback.evictions();
  }

  @Override
  public long refusals() {
    return refusals.sum();
  }

  @Override
  public void choose(PolicyChoice choice) {
    judge.choose(choice);
    upkeep.ask();
  }

  @Override
  public PolicySnapshot policy() {
    return judge.snapshot();
  }

  private static int units(Variants variants) {
    long units = Math.ceilDiv(variants.allOccupiedBytes(), UNIT_BYTES) + (long) heapUnits(variants);
    return (int) Math.min(units, Integer.MAX_VALUE);
  }

  /** What a key and what is under it take on the heap, nearly. */
  private static int heapUnits(Variants variants) {
    return (int) Math.ceilDiv(HEAP_BYTES_PER_KEY + variants.heapBytes(), UNIT_BYTES);
  }
}
