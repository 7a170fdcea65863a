package io.kamille.cache.index;

import static io.kamille.cache.index.IndexAccounts.UNIT_BYTES;
import static io.kamille.cache.index.IndexAccounts.heapUnits;
import static io.kamille.cache.index.IndexAccounts.units;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.time.WallClock;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
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
   * Caffeine holds the entries and chooses what to evict, on the index thread (PolicyCache). This
   * class sees to what the entries stand for: leases on responses, what they take on the heap
   * (IndexAccounts), and who may come in (SizeAdmission). Room is made beside it (IndexRoom). The
   * judge compares the policies by ghosts, also on the index thread.
   *
   * A change of an entry is one step of the map, in which nothing is given back: what leaves is
   * given back after the step. What Caffeine evicts waits in a queue until its maintenance is over.
   */
  static final long GHOST_LEAST_BYTES = 32L << 20;

  static final long BYTES_PER_COUNTER = 8 << 10;
  private static final int ROUNDS = 8;

  private final long capacityUnits;
  private final IndexMemory memory;
  private final WallClock clock;
  private final PolicyCache<CacheKey, Variants> cache;
  private final SizeAdmission admission;
  private final PolicyJudge judge;
  private final RequestSamples samples = new RequestSamples();
  private final Upkeep upkeep;
  private final IndexAccounts accounts;
  private final IndexRoom room;
  private final LongAdder refusals = new LongAdder();

  CaffeineIndex(
      long capacityBytes,
      PolicyChoice choice,
      IndexMemory memory,
      WallClock clock,
      Function<Runnable, Upkeep> upkeep) {
    this.capacityUnits = capacityBytes / UNIT_BYTES;
    this.memory = memory;
    this.accounts = new IndexAccounts(memory);
    this.clock = clock;
    this.upkeep = upkeep.apply(this::maintain);
    this.admission = new SizeAdmission(capacityUnits, capacityBytes / BYTES_PER_COUNTER);
    this.judge =
        new PolicyJudge(
            choice, capacityUnits, GHOST_LEAST_BYTES / UNIT_BYTES, clock.epochSeconds());
    Queue<Variants> evicted = new ConcurrentLinkedQueue<>();
    this.cache =
        new PolicyCache<>(
            choice.first(),
            capacityUnits,
            IndexAccounts::units,
            CaffeineIndex::hits,
            evicted::add,
            this.upkeep::ask);
    this.room =
        new IndexRoom(
            capacityUnits,
            memory,
            cache,
            accounts,
            evicted,
            this.upkeep,
            new Fallback(System.getLogger("kamille.cache")));
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

  /**
   * Ends the thread, and the leases of what it has evicted. The entries stay; {@link #clear} comes
   * before.
   */
  @Override
  public void close() {
    upkeep.close();
    room.endEvicted();
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

  private static int hits(Variants variants) {
    int most = 0;
    for (int i = 0; i < variants.size(); i++) {
      most = Math.max(most, variants.at(i).hits());
    }
    return most;
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
    return memory.freeBytes() < wantedBytes ? capacityUnits : accounts.units();
  }

  @Override
  public boolean put(CacheKey key, StoredResponse response, BooleanSupplier isCurrent) {
    room.hurryIfBusy();
    if (cache.isBehind()) {
      refusals.increment();
      return false;
    }
    int granted = heapUnits(response);
    if (!obtain(granted)) {
      return false;
    }
    Change change = new Change();
    cache.compute(
        key, (same, before) -> isCurrent.getAsBoolean() ? change.of(before, response) : before);
    if (change.after == null) {
      accounts.giveBack(granted);
      return false;
    }
    Variants after = change.after;
    int before = change.before == null ? 0 : heapUnits(change.before);
    accounts.giveBack(granted + before - heapUnits(after));
    accounts.count(change.before, after);
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

  /** Has that much of the heap granted, by evicting if need be. */
  private boolean obtain(int wantedUnits) {
    for (int round = 0; round < ROUNDS; round++) {
      if (accounts.charge(wantedUnits)) {
        return true;
      }
      if (room.evict(wantedUnits) == 0) {
        return false;
      }
    }
    return accounts.charge(wantedUnits);
  }

  @Override
  public boolean replace(CacheKey key, StoredResponse one, @Nullable StoredResponse other) {
    room.hurryIfBusy();
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
    accounts.count(before, replacement.after);
    if (replacement.after == null) {
      accounts.giveBack(heapUnits(before));
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
        if (!accounts.charge(more)) {
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
    room.hurryIfBusy();
    Variants last = cache.remove(key);
    if (last == null) {
      return 0;
    }
    noteRemoval(key);
    accounts.left(last);
    return last.size();
  }

  private void noteRemoval(CacheKey key) {
    if (judge.samples(key.high())) {
      samples.removed(key.low());
    }
  }

  @Override
  public int clear() {
    LongAdder removed = new LongAdder();
    cache.forEach(
        (key, variants) -> {
          removed.add(remove(key));
          room.pause();
        });
    return removed.intValue();
  }

  @Override
  public void pause() {
    room.pause();
  }

  @Override
  public long evict(long bytes) {
    return room.evict(Math.ceilDiv(bytes, UNIT_BYTES)) * UNIT_BYTES;
  }

  @Override
  public void evictSoon(long bytes) {
    room.evictSoon(Math.ceilDiv(bytes, UNIT_BYTES));
  }

  @Override
  public void taken(long bytes) {
    room.taken(bytes);
  }

  // On the index thread

  private void maintain() {
    try {
      cache.maintain();
      room.endEvicted();
      follow(judge.hear(samples));
      judge.endWatch(clock.epochSeconds());
      room.keepSpare();
      room.worked();
    } catch (RuntimeException | Error e) {
      room.failed(e);
    }
    room.endEvicted();
  }

  private void follow(Policy advice) {
    if (advice != cache.policy()) {
      cache.choose(advice);
      judge.switched(advice, clock.epochSeconds());
    }
  }

  @Override
  public long size() {
    return cache.size();
  }

  @Override
  public long weightBytes() {
    return accounts.units() * UNIT_BYTES;
  }

  @Override
  public long heapBytes() {
    return accounts.heapUnits() * UNIT_BYTES;
  }

  @Override
  public long evictions() {
    return room.evictions();
  }

  @Override
  public long fallbackEvictions() {
    return room.fallbackEvictions();
  }

  @Override
  public long failures() {
    return room.failures();
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

  @Override
  public void watch(long seconds) {
    if (seconds == 0) {
      judge.endWatch();
    } else {
      judge.watch(clock.epochSeconds(), clock.epochSeconds() + seconds);
    }
  }

  @Override
  public @Nullable Forecast forecast() {
    return judge.forecast(clock.epochSeconds());
  }
}
