package io.kamille.cache.index;

import static io.kamille.cache.index.IndexRoom.UNIT_BYTES;
import static io.kamille.cache.index.IndexRoom.heapUnits;
import static io.kamille.cache.index.IndexRoom.units;

import io.kamille.cache.index.PolicySnapshot.Estimate;
import io.kamille.cache.index.RequestSamples.Event;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which stored responses there are, by cache key, in Caffeine under W-TinyLFU or LRU, or whichever
 * of the two hits more.
 *
 * <p>Any thread; no caller waits for the order of the entries. Holds one lease on every response in
 * it, and on every coded form of one, and ends it when the response leaves, in whatever way. Who
 * finds one takes a lease of its own before it reads.
 */
public final class CaffeineIndex implements AutoCloseable {

  private static final MetricDescriptor KEYS =
      MetricDescriptor.gauge(
          "kamille_cache_keys", Unit.COUNT, "Target URIs that something is stored under.");

  private static final MetricDescriptor EVICTIONS =
      MetricDescriptor.counter(
          "kamille_cache_evictions_total",
          Unit.COUNT,
          "Target URIs whose stored responses were forgotten to make room.");

  private static final MetricDescriptor FALLBACK_EVICTIONS =
      MetricDescriptor.counter(
          "kamille_cache_fallback_evictions_total",
          Unit.COUNT,
          "Evictions that the cache chose without Caffeine, whose maintenance had"
              + " failed, was behind, or had made no room when some was needed.");

  private static final MetricDescriptor INDEX_FAILURES =
      MetricDescriptor.counter(
          "kamille_cache_index_failures_total",
          Unit.COUNT,
          "How often the upkeep of the index failed. It goes on; the log has the first cause.");

  private static final MetricDescriptor INDEX_REFUSALS =
      MetricDescriptor.counter(
          "kamille_cache_index_refusals_total",
          Unit.COUNT,
          "Responses that were not stored because the index was behind with its changes.");

  private static final MetricDescriptor POLICY =
      MetricDescriptor.gauge(
          "kamille_cache_policy",
          Unit.COUNT,
          "1 for the replacement policy that chooses what is forgotten, 0 for the other.",
          "policy");

  private static final MetricDescriptor POLICY_SWITCHES =
      MetricDescriptor.counter(
          "kamille_cache_policy_switches_total",
          Unit.COUNT,
          "Changes of the replacement policy, by the setting or by what it would have hit.");

  private static final MetricDescriptor OBJECT_HITS =
      MetricDescriptor.gauge(
          "kamille_cache_policy_object_hit_ratio",
          Unit.RATIO,
          "The share of the last sampled cacheable requests that each policy would have hit.",
          "policy");

  private static final MetricDescriptor BYTE_HITS =
      MetricDescriptor.gauge(
          "kamille_cache_policy_byte_hit_ratio",
          Unit.RATIO,
          "The share of octets that each policy would have hit, of the same requests.",
          "policy");

  /*
   * Caffeine holds the entries and chooses what to evict, on the index thread (PolicyCache). This
   * class sees to the leases on responses, and to who may come in (SizeAdmission). What the entries
   * take, and room for more, is beside it (IndexRoom). The judge compares the policies by ghosts,
   * also on the index thread.
   *
   * A change of an entry is one step of the map, in which nothing is given back: what leaves is
   * given back after the step. What Caffeine evicts waits in a queue until its maintenance is over.
   */
  static final long GHOST_LEAST_BYTES = 32L << 20;

  /** How many variants of a response are kept unless somebody says so. */
  public static final int USUAL_VARIANTS = 16;

  static final long BYTES_PER_COUNTER = 8 << 10;

  private final long capacityUnits;
  private final IndexMemory memory;
  private final WallClock clock;
  private final PolicyCache<CacheKey, Variants> cache;
  private final SizeAdmission admission;
  private final PolicyJudge judge;
  private final long sampleMask;
  private final RequestSamples samples = new RequestSamples();
  private final Upkeep upkeep;
  private final IndexRoom room;
  private final LongAdder refusals = new LongAdder();

  // Volatile: written by a reload, read on the loops.
  private volatile int variantLimit = USUAL_VARIANTS;

  CaffeineIndex(
      long capacityBytes,
      PolicyChoice choice,
      IndexMemory memory,
      WallClock clock,
      Function<Runnable, Upkeep> upkeep,
      System.Logger log) {
    this.capacityUnits = capacityBytes / UNIT_BYTES;
    this.memory = memory;
    this.clock = clock;
    this.upkeep = upkeep.apply(this::maintain);
    this.admission = new SizeAdmission(capacityUnits, capacityBytes / BYTES_PER_COUNTER);
    this.judge =
        new PolicyJudge(
            choice, capacityUnits, GHOST_LEAST_BYTES / UNIT_BYTES, clock.epochSeconds());
    this.sampleMask = judge.sampleMask();
    Queue<Variants> evicted = new ConcurrentLinkedQueue<>();
    this.cache =
        new PolicyCache<>(
            choice.first(),
            capacityUnits,
            IndexRoom::units,
            CaffeineIndex::lastUse,
            evicted::add,
            this.upkeep::ask);
    this.room = new IndexRoom(capacityUnits, memory, cache, evicted, this.upkeep, log);
  }

  /**
   * Opens an index with a thread of its own, which ends with {@link #close}.
   *
   * @param capacityBytes it begins to evict when what is in it weighs more
   * @param clock tells since when a policy is chosen
   */
  public static CaffeineIndex open(
      long capacityBytes, PolicyChoice choice, IndexMemory memory, WallClock clock) {
    System.Logger log = System.getLogger("kamille.cache");
    return new CaffeineIndex(
        capacityBytes, choice, memory, clock, work -> IndexThread.start(work, log), log);
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

  /**
   * The variants under that key, or null; a use of them. Allocates nothing; borrows the key, which
   * may be a reusable probe.
   */
  public @Nullable Variants find(CacheKey key) {
    Variants found = cache.find(key);
    if ((key.high() & sampleMask) == 0) {
      samples.note(
          found == null ? Event.MISSED : Event.FOUND, key.low(), found == null ? 0 : units(found));
    }
    return found;
  }

  private static long lastUse(Variants variants) {
    long last = 0;
    for (int i = 0; i < variants.size(); i++) {
      last = Math.max(last, variants.at(i).lastUse());
    }
    return last;
  }

  /** As {@link #find}, but no use of what is there: for purges, copies and explanations. */
  public @Nullable Variants peek(CacheKey key) {
    return cache.peek(key);
  }

  /**
   * Whether a response that was asked for and not found is worth its room, which counts as a
   * request for it. Asked once, before memory is taken. Borrows the key.
   *
   * @param bytes what it will take, or, when that is unknown, at least
   */
  public boolean admits(CacheKey key, long bytes) {
    long wanted = Math.ceilDiv(bytes, UNIT_BYTES);
    boolean isAdmitted = admission.admits(cache.policy(), key.low(), wanted, usedUnits(bytes));
    if (!isAdmitted) {
      note(Event.STORED, key, wanted);
    }
    return isAdmitted;
  }

  /** The same when it turns out to take more; counts nothing. */
  public boolean wouldAdmit(CacheKey key, long bytes) {
    long wanted = Math.ceilDiv(bytes, UNIT_BYTES);
    return admission.wouldAdmit(cache.policy(), key.low(), wanted, usedUnits(bytes));
  }

  private long usedUnits(long wantedBytes) {
    return memory.freeBytes() < wantedBytes ? capacityUnits : room.units();
  }

  private void note(Event event, CacheKey key, long units) {
    if ((key.high() & sampleMask) == 0) {
      samples.note(event, key.low(), units);
    }
  }

  /** What one step of the map did. */
  private static final class Change {

    private @Nullable Variants before;
    private @Nullable Variants after;
  }

  /**
   * Adds a response under its key, in place of the one with the same selecting fields, if {@code
   * isCurrent} says so when no other change can come between, and if the index is not behind. If
   * so, takes over one lease and keeps the key.
   *
   * @return whether it did
   */
  public boolean put(CacheKey key, StoredResponse response, BooleanSupplier isCurrent) {
    room.hurryIfBusy();
    if (cache.isBehind()) {
      refusals.increment();
      return false;
    }
    int granted = heapUnits(response);
    if (!room.obtain(granted)) {
      return false;
    }
    Change change = new Change();
    try {
      cache.compute(
          key,
          (same, present) -> {
            if (!isCurrent.getAsBoolean()) {
              return present;
            }
            change.before = present;
            change.after = present == null ? response : present.with(response, variantLimit);
            return change.after;
          });
    } catch (RuntimeException | Error fault) {
      room.giveBack(granted);
      throw fault;
    }
    Variants before = change.before;
    Variants after = change.after;
    if (after == null) {
      room.giveBack(granted);
      return false;
    }
    room.giveBack(granted + (before == null ? 0 : heapUnits(before)) - heapUnits(after));
    room.count(before, after);
    if (before != null) {
      before.releaseExcept(after);
    }
    note(Event.STORED, key, units(after));
    return true;
  }

  /**
   * Puts a response into the place of another one, or nothing, if that one is still under the key.
   * Takes over one lease on {@code other} and on each of its coded forms if so, ends those on
   * {@code one} and its own, and keeps the key.
   *
   * @return whether it was
   */
  public boolean replace(CacheKey key, StoredResponse one, @Nullable StoredResponse other) {
    room.hurryIfBusy();
    Variants found = cache.peek(key);
    if (found == null || !found.contains(one)) {
      return false;
    }
    Change change = new Change();
    cache.compute(
        key,
        (same, present) -> {
          if (present == null || !present.contains(one)) {
            return present;
          }
          Variants replaced = present.replacing(one, other);
          if (replaced != null && !room.charge(heapUnits(replaced) - heapUnits(present))) {
            return present;
          }
          change.before = present;
          change.after = replaced;
          return replaced;
        });
    Variants before = change.before;
    if (before == null) {
      return false;
    }
    room.count(before, change.after);
    if (change.after == null) {
      room.giveBack(heapUnits(before));
      note(Event.REMOVED, key, 0);
    }
    before.releaseExcept(change.after);
    return true;
  }

  /**
   * Shows everything that is there from beginning to end, and perhaps what comes meanwhile. The
   * index may change meanwhile, also by {@code reader}.
   */
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    cache.forEach(reader);
  }

  /** Removes what is under that key, and says how many responses that were. Borrows the key. */
  public int remove(CacheKey key) {
    room.hurryIfBusy();
    Variants last = cache.remove(key);
    if (last == null) {
      return 0;
    }
    note(Event.REMOVED, key, 0);
    room.left(last);
    return last.size();
  }

  /**
   * Removes everything, and says how many responses that were. Makes pauses, as {@link #pause}
   * does.
   */
  public int clear() {
    LongAdder removed = new LongAdder();
    cache.forEach(
        (key, variants) -> {
          removed.add(remove(key));
          room.pause();
        });
    return removed.intValue();
  }

  /**
   * Waits, for a moment at most, while the index has many changes to put in order: for who removes
   * much, that room is left for what is stored meanwhile. Not on a loop.
   */
  public void pause() {
    room.pause();
  }

  /**
   * Removes some of what is least worth keeping, until that gives back {@code bytes}. Waits for
   * nobody: if the policy has not made room by now, the index does it by LRU, for a few keys at a
   * time.
   *
   * @return what it gives back, as soon as nobody reads it any more
   */
  public long evict(long bytes) {
    return room.evict(Math.ceilDiv(bytes, UNIT_BYTES)) * UNIT_BYTES;
  }

  /** Has the policy evict so much more, off the loops: whoever asks goes on without the room. */
  public void evictSoon(long bytes) {
    room.evictSoon(Math.ceilDiv(bytes, UNIT_BYTES));
  }

  /**
   * So much memory was taken for a response on its way. If memory is short, the policy evicts as
   * much soon. Waits for nobody.
   */
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

  // For operators

  /** How many keys there are; an estimate while others change the index. */
  public long size() {
    return cache.size();
  }

  /** What all stored responses weigh, with an estimate of what they take on the heap. */
  public long weightBytes() {
    return room.units() * UNIT_BYTES;
  }

  /** What of that is on the heap, nearly. */
  public long heapBytes() {
    return room.heapUnits() * UNIT_BYTES;
  }

  /** How many keys were evicted for want of room since the start. */
  public long evictions() {
    return room.evictions();
  }

  /** How many of those the index evicted by LRU, because the policy had made no room. */
  public long fallbackEvictions() {
    return room.fallbackEvictions();
  }

  /** How often the upkeep of the order threw; it goes on each time. */
  long failures() {
    return room.failures();
  }

  /** How many responses were not stored because the index was behind with its changes. */
  public long refusals() {
    return refusals.sum();
  }

  /** Keeps so many variants of a response from now on, the most recent ones. */
  public void keepVariants(int limit) {
    variantLimit = limit;
  }

  /** How many variants of a response are kept. */
  public int variantLimit() {
    return variantLimit;
  }

  /** Lets that policy choose what to forget, from now on; everything that is stored stays. */
  public void choose(PolicyChoice choice) {
    judge.choose(choice);
    upkeep.ask();
  }

  /** Which policy chooses what to forget, and why. Not for the path of a request. */
  public PolicySnapshot policy() {
    return judge.snapshot();
  }

  /** Watches for so long what other amounts of memory would hit; 0 ends that. */
  public void watch(long seconds) {
    if (seconds == 0) {
      judge.endWatch();
    } else {
      judge.watch(clock.epochSeconds(), clock.epochSeconds() + seconds);
    }
  }

  /** What they would have hit, while or after that was watched; null if it never was. */
  public @Nullable Forecast forecast() {
    return judge.forecast(clock.epochSeconds());
  }

  /** Tells of that index in {@code registry}. */
  public void register(MetricRegistry registry) {
    registry.gauge(KEYS, this::size);
    registry.counting(EVICTIONS, this::evictions);
    registry.counting(FALLBACK_EVICTIONS, this::fallbackEvictions);
    registry.counting(INDEX_FAILURES, this::failures);
    registry.counting(INDEX_REFUSALS, this::refusals);
    registry.counting(POLICY_SWITCHES, () -> policy().switches());
    for (Policy each : Policy.values()) {
      registry.gauge(POLICY, () -> policy().policy() == each ? 1 : 0, each.token());
      registry.gauge(OBJECT_HITS, () -> estimate(each).objectHitRatio(), each.token());
      registry.gauge(BYTE_HITS, () -> estimate(each).byteHitRatio(), each.token());
    }
  }

  private Estimate estimate(Policy policy) {
    return policy().estimates().get(policy.ordinal());
  }
}
