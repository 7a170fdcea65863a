package io.kamille.cache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy.CacheEntry;
import com.github.benmanes.caffeine.cache.Policy.Eviction;
import com.github.benmanes.caffeine.cache.Policy.FixedExpiration;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.Comparator;
import java.util.List;
import java.util.Spliterator;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * One Caffeine cache that evicts by W-TinyLFU or by LRU; a switch keeps all entries. Any thread,
 * but {@link #maintain}, {@link #choose} and {@link #evictByPolicy} belong to the index thread.
 */
final class PolicyCache<K, V> {

  /*
   * W-TinyLFU is Caffeine's own policy (Einziger, Eytan, Manes, Vitenberg 2018, "Adaptive Software
   * Cache Management"). Under LRU the maximum is beyond reach, so Caffeine evicts nothing, and this
   * class evicts the entries that were not used for the longest time. Caffeine knows them because
   * it notes the last use of each entry to expire it, though the lifetime never ends.
   *
   * The clock of these uses moves under LRU alone. Under W-TinyLFU an entry comes from the
   * protected part to the tail of probation with an older use than the entries before it. Caffeine
   * would take those for misplaced and move them all, in each maintenance. A clock that stands
   * still makes all uses equal. A switch to LRU moves the clock first: what is used from then on is
   * newer than the rest. One tick is longer than the second within which Caffeine notes no new use,
   * and uses within one tick differ only in Caffeine's lists. Samples do without this clock: a
   * value knows when it was last used.
   *
   * Caffeine asks an executor for its maintenance, which the index thread does. What it throws
   * Caffeine keeps for its log: so MemoryIndex looks at what all entries weigh. Threads that make
   * many changes before it comes to them have to help. Loops must not, so changes are counted, and
   * callers ask isBehind before they add an entry, and isFull before they evict some. How many may
   * wait is our own limit, by processors: more of them make more changes in the same time. A quarter
   * of it is left to removals, half of that to those that cannot wait.
   */
  private static final long BEYOND_REACH = Long.MAX_VALUE / 2;
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(1100);
  private static final int RUNS_PER_TICK = 64;
  private static final int BATCH = 64;
  private static final int SAMPLE = 8;
  private static final int EMPTY_SAMPLES = 8;

  /** How many changes the order may be behind with. */
  static final int CHANGES_MAXIMUM = 128 * Runtime.getRuntime().availableProcessors();

  private static final int CHANGES_OF_ADDITIONS = CHANGES_MAXIMUM / 4 * 3;
  private static final int CHANGES_OF_EVICTIONS = CHANGES_MAXIMUM / 8 * 7;

  private final long maximumUnits;
  private final ToIntFunction<V> units;
  private final ToLongFunction<V> lastUse;
  private final Consumer<V> evicted;
  private final Cache<K, V> cache;
  private final ConcurrentMap<K, V> entries;
  private final Eviction<K, V> size;
  private final FixedExpiration<K, V> uses;

  /** Changes that the order may not know yet. */
  private final AtomicInteger changes = new AtomicInteger();

  private volatile Policy policy;
  private volatile long clockNanos;
  private int runs;

  /**
   * A cache of nothing.
   *
   * @param units what a value weighs; always the same
   * @param lastUse when it was last used, in any unit
   * @param evicted takes what leaves for want of room, at once and on any thread. It must not touch
   *     the cache
   * @param upkeep is told when {@link #maintain} should be called; must not wait
   */
  PolicyCache(
      Policy policy,
      long maximumUnits,
      ToIntFunction<V> units,
      ToLongFunction<V> lastUse,
      Consumer<V> evicted,
      Runnable upkeep) {
    this.policy = policy;
    this.maximumUnits = maximumUnits;
    this.units = units;
    this.lastUse = lastUse;
    this.evicted = evicted;
    this.cache =
        Caffeine.newBuilder()
            .maximumWeight(limit(policy))
            .<K, V>weigher((key, value) -> units.applyAsInt(value))
            .expireAfterAccess(Long.MAX_VALUE, TimeUnit.NANOSECONDS)
            .ticker(() -> clockNanos)
            .executor(task -> upkeep.run())
            .<K, V>evictionListener((key, value, cause) -> take(value))
            .build();
    this.entries = cache.asMap();
    this.size = cache.policy().eviction().orElseThrow();
    this.uses = cache.policy().expireAfterAccess().orElseThrow();
  }

  private long limit(Policy policy) {
    return policy == Policy.LRU ? BEYOND_REACH : maximumUnits;
  }

  private void take(@Nullable V value) {
    if (value != null) {
      evicted.accept(value);
    }
  }

  /** The value under that key, or null; a use of it. Allocates nothing. */
  @Nullable V find(K key) {
    return cache.getIfPresent(key);
  }

  /** The value under that key, or null; no use of it. */
  @Nullable V peek(K key) {
    return cache.policy().getIfPresentQuietly(key);
  }

  /**
   * Changes what is under that key in one step. The change must be short and not touch the cache.
   */
  void compute(K key, BiFunction<K, @Nullable V, @Nullable V> change) {
    changes.incrementAndGet();
    entries.compute(key, change);
  }

  /** Takes out what is under that key. Of an absent key the order learns nothing. */
  @Nullable V remove(K key) {
    V gone = entries.remove(key);
    if (gone != null) {
      changes.incrementAndGet();
    }
    return gone;
  }

  void forEach(BiConsumer<K, V> reader) {
    entries.forEach(reader);
  }

  /** How many entries there are, nearly. */
  long size() {
    return cache.estimatedSize();
  }

  Policy policy() {
    return policy;
  }

  /** Whether an addition now might wait for the maintenance. */
  boolean isBehind() {
    return changes.get() >= CHANGES_OF_ADDITIONS;
  }

  /** Whether an eviction of some now might wait for the maintenance. */
  boolean isFull() {
    return changes.get() >= CHANGES_OF_EVICTIONS;
  }

  /** Whether it is time for the maintenance even if it rests. */
  boolean isBusy() {
    return changes.get() >= CHANGES_OF_ADDITIONS / 2;
  }

  /** Evicts by that policy from now on. */
  void choose(Policy other) {
    if (other == Policy.LRU && policy != Policy.LRU) {
      tick();
    }
    policy = other;
    size.setMaximum(limit(other));
  }

  /** What is used from now on counts as newer than the rest. */
  private void tick() {
    long now = clockNanos;
    clockNanos = now + TICK_NANOS;
  }

  /** Brings the order up to date, and evicts what is beyond the maximum. */
  void maintain() {
    if (policy == Policy.LRU && ++runs % RUNS_PER_TICK == 0) {
      tick();
    }
    cleanUp();
    if (policy == Policy.LRU) {
      evictByPolicy(weight() - maximumUnits, evicted);
    }
  }

  /** Brings the order up to date, as far as Caffeine can; any thread that may wait. */
  void cleanUp() {
    int known = changes.get();
    cache.cleanUp();
    changes.updateAndGet(now -> Math.max(0, now - known));
  }

  private long weight() {
    return size.weightedSize().orElse(0);
  }

  /**
   * Evicts the entries that the policy would evict next, until they weigh so much.
   *
   * @param to takes what is evicted, at once
   * @return what they weigh
   */
  @CanIgnoreReturnValue
  long evictByPolicy(long wantedUnits, Consumer<? super V> to) {
    long done = 0;
    for (long before = -1; done < wantedUnits && done > before; ) {
      before = done;
      cleanUp();
      for (K next : next()) {
        done += done < wantedUnits ? evict(next, to) : 0;
      }
    }
    return done;
  }

  private List<K> next() {
    Function<Stream<CacheEntry<K, V>>, List<K>> batch =
        order -> order.limit(BATCH).map(CacheEntry::getKey).toList();
    return policy == Policy.LRU ? uses.oldest(batch) : size.coldest(batch);
  }

  private long evict(K key, Consumer<? super V> to) {
    V value = remove(key);
    if (value == null) {
      return 0;
    }
    to.accept(value);
    return units.applyAsInt(value);
  }

  /**
   * Evicts entries without Caffeine's order, and without waiting for it: of a few that are met by
   * chance the one that was not used for the longest time, again and again until they weigh so
   * much.
   *
   * @param most how many entries at most
   * @param to takes what is evicted
   * @return what they weigh
   */
  long evictBySample(long wantedUnits, int most, Consumer<? super V> to) {
    long done = 0;
    int empty = 0;
    for (int tries = 0; tries < most && done < wantedUnits && empty < EMPTY_SAMPLES; tries++) {
      K victim = oldestOfSome(empty == EMPTY_SAMPLES - 1);
      long victimUnits = victim == null ? 0 : evict(victim, to);
      done += victimUnits;
      empty = victimUnits == 0 ? empty + 1 : 0;
    }
    return done;
  }

  /** The spliterator of a hash map halves its range without looking at the entries in it. */
  private @Nullable K oldestOfSome(boolean isLastTry) {
    Spliterator<K> part = entries.keySet().spliterator();
    while (!isLastTry && part.estimateSize() > SAMPLE) {
      Spliterator<K> half = part.trySplit();
      if (half == null) {
        break;
      }
      part = ThreadLocalRandom.current().nextBoolean() ? half : part;
    }
    return StreamSupport.stream(part, false)
        .limit(SAMPLE)
        .min(Comparator.comparingLong(this::lastUse))
        .orElse(null);
  }

  private long lastUse(K key) {
    V value = peek(key);
    return value == null ? Long.MAX_VALUE : lastUse.applyAsLong(value);
  }
}
