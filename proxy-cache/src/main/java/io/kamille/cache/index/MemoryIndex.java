package io.kamille.cache.index;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.cache.index.PolicySnapshot.Estimate;
import io.kamille.cache.index.RequestSamples.Event;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Which stored responses there are, by cache key, in Caffeine under W-TinyLFU or LRU, or whichever
 * of the two hits more.
 *
 * <p>Any thread; no caller waits for the order of the entries. Holds one lease on every response in
 * it, and on every coded form of one, and ends it when the response leaves, in whatever way. Who
 * finds one takes a lease of its own before it reads.
 */
public final class MemoryIndex implements AutoCloseable {

  private static final MetricDescriptor POLICY =
      MetricDescriptor.gauge(
          "kamille_cache_policy",
          "1 for the replacement policy that chooses what is forgotten, 0 for the other.",
          "policy");

  private static final MetricDescriptor OBJECT_HITS =
      MetricDescriptor.gauge(
          "kamille_cache_policy_object_hit_ratio",
          "The share of the last sampled cacheable requests that each policy would have hit.",
          "policy");

  private static final MetricDescriptor BYTE_HITS =
      MetricDescriptor.gauge(
          "kamille_cache_policy_byte_hit_ratio",
          "The share of octets that each policy would have hit, of the same requests.",
          "policy");

  /*
   * Caffeine holds the entries and chooses what to evict, on the index thread (PolicyCache). This
   * class sees to the leases on responses, to who may come in (SizeAdmission), and to room for more.
   * The judge compares the policies by ghosts, also on the index thread.
   *
   * Weights are counted in units of 64 octets, the arena's granule, so that an int holds any. Each
   * key is charged what it takes on the heap too; that is granted in the step that brings it in, and
   * given back when it has left. A change of an entry is one step of the map, in which no lease
   * ends: what leaves is given back after the step. What Caffeine evicts waits in a queue until its
   * maintenance is over.
   *
   * Caffeine evicts when it comes to it. So the index thread also keeps a 64th of the capacity free
   * for what is on its way, by the same policy. If the policy makes no room, whichever it is, room
   * is made by LRU, from samples of the entries: the maintenance threw, it is behind, or room is
   * needed before it has run. Each of the three is said once, and counted.
   */
  static final int UNIT_BYTES = 64;

  static final long GHOST_LEAST_BYTES = 32L << 20;

  /** How many variants of a response are kept unless somebody says so. */
  public static final int USUAL_VARIANTS = 16;

  static final long BYTES_PER_COUNTER = 8 << 10;

  /** How many keys a loop evicts in one call. */
  static final int STEP = Math.min(32, PolicyCache.CHANGES_MAXIMUM / 8);

  private static final int HEAP_BYTES_PER_KEY = 112;
  private static final int SPARE_DIVISOR = 64;
  private static final int ROUNDS = 8;

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
  private final Queue<Variants> evicted = new ConcurrentLinkedQueue<>();
  private final SizeAdmission admission;
  private final PolicyJudge judge;
  private final long sampleMask;
  private final RequestSamples samples = new RequestSamples();
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
  private final LongAdder refusals = new LongAdder();

  /** One bit for each reason. */
  private final AtomicInteger said = new AtomicInteger();

  // Volatile: written by a reload, read on the loops.
  private volatile int variantLimit = USUAL_VARIANTS;

  // Volatile: set by the index thread, read by all.
  private volatile boolean isFailed;

  MemoryIndex(
      long capacityBytes,
      PolicyChoice choice,
      IndexMemory memory,
      WallClock clock,
      Function<Runnable, Upkeep> upkeep,
      System.Logger log) {
    this.capacityUnits = capacityBytes / UNIT_BYTES;
    this.memory = memory;
    this.upkeep = upkeep.apply(this::maintain);
    this.log = log;
    this.admission = new SizeAdmission(capacityUnits, capacityBytes / BYTES_PER_COUNTER);
    this.judge = new PolicyJudge(choice, capacityUnits, GHOST_LEAST_BYTES / UNIT_BYTES, clock);
    this.sampleMask = judge.sampleMask();
    this.cache =
        new PolicyCache<>(
            choice.first(),
            capacityUnits,
            MemoryIndex::units,
            MemoryIndex::lastUse,
            evicted::add,
            this.upkeep::ask);
  }

  /**
   * Opens an index with a thread of its own, which ends with {@link #close}.
   *
   * @param capacityBytes it begins to evict when what is in it weighs more
   * @param clock tells since when a policy is chosen
   */
  public static MemoryIndex open(
      long capacityBytes, PolicyChoice choice, IndexMemory memory, WallClock clock) {
    System.Logger log = System.getLogger("kamille.cache");
    return new MemoryIndex(
        capacityBytes, choice, memory, clock, work -> IndexThread.start(work, log), log);
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

  // What the entries weigh

  /** What a key weighs, with what is under it. */
  static int units(Variants variants) {
    long units = Math.ceilDiv(variants.allOccupiedBytes(), UNIT_BYTES) + (long) heapUnits(variants);
    return (int) Math.min(units, Integer.MAX_VALUE);
  }

  /** What a key and what is under it take on the heap, nearly. */
  private static int heapUnits(@Nullable Variants variants) {
    return variants == null
        ? 0
        : (int) Math.ceilDiv(HEAP_BYTES_PER_KEY + variants.heapBytes(), UNIT_BYTES);
  }

  private static long lastUse(Variants variants) {
    long last = 0;
    for (int i = 0; i < variants.size(); i++) {
      last = Math.max(last, variants.at(i).lastUse());
    }
    return last;
  }

  // What is found

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

  /** As {@link #find}, but no use of what is there: for purges, copies and explanations. */
  public @Nullable Variants peek(CacheKey key) {
    return cache.peek(key);
  }

  /**
   * Shows everything that is there from beginning to end, and perhaps what comes meanwhile. The
   * index may change meanwhile, also by {@code reader}.
   */
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    cache.forEach(reader);
  }

  // What comes in

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
    return memory.freeBytes() < wantedBytes ? capacityUnits : units.get();
  }

  private void note(Event event, CacheKey key, long units) {
    if ((key.high() & sampleMask) == 0) {
      samples.note(event, key.low(), units);
    }
  }

  /**
   * Adds a response under its key, in place of the one with the same selecting fields, if {@code
   * isCurrent} says so when no other change can come between, and if the index is not behind. If
   * so, takes over one lease and keeps the key.
   *
   * @return whether it did
   */
  public boolean put(CacheKey key, StoredResponse response, BooleanSupplier isCurrent) {
    hurryIfBusy();
    if (cache.isBehind()) {
      refusals.increment();
      return false;
    }
    Change change =
        new Change(
            present -> {
              if (!isCurrent.getAsBoolean()) {
                return present;
              }
              return present == null ? response : present.with(response, variantLimit);
            });
    boolean isMade = change.makeAt(key);
    for (int round = 0; change.refused > 0 && round < ROUNDS && evictUnits(change.refused) > 0; ) {
      isMade = change.makeAt(key);
      round++;
    }
    if (isMade) {
      note(Event.STORED, key, units(change.now()));
    }
    return isMade;
  }

  /**
   * Puts a response into the place of another one, or nothing, if that one is still under the key.
   * Takes over one lease on {@code other} and on each of its coded forms if so, ends those on
   * {@code one} and its own, and keeps the key.
   *
   * @return whether it was
   */
  public boolean replace(CacheKey key, StoredResponse one, @Nullable StoredResponse other) {
    hurryIfBusy();
    Variants found = cache.peek(key);
    if (found == null || !found.contains(one)) {
      return false;
    }
    Change change =
        new Change(
            present ->
                present == null || !present.contains(one)
                    ? present
                    : present.replacing(one, other));
    boolean isMade = change.makeAt(key);
    if (isMade && change.after == null) {
      note(Event.REMOVED, key, 0);
    }
    return isMade;
  }

  /** What becomes of an entry in one step of the map. */
  private final class Change {

    private final UnaryOperator<@Nullable Variants> step;
    private @Nullable Variants before;
    private @Nullable Variants after;

    /** What it takes of the heap more than before. */
    private int granted;

    /** What of the heap was not granted, so that nothing has changed. */
    private int refused;

    Change(UnaryOperator<@Nullable Variants> step) {
      this.step = step;
    }

    /** Whether what is under that key is something else now. Ends the leases on what has left. */
    boolean makeAt(CacheKey key) {
      try {
        cache.compute(key, (same, present) -> next(present));
      } catch (RuntimeException | Error fault) {
        charge(-granted);
        throw fault;
      }
      if (before != after) {
        count(before, after);
      }
      if (before != null && before != after) {
        before.releaseExcept(after);
      }
      return before != after;
    }

    private @Nullable Variants next(@Nullable Variants present) {
      before = present;
      after = step.apply(present);
      int more = heapUnits(after) - heapUnits(present);
      boolean isGranted = charge(more);
      granted = isGranted ? more : 0;
      refused = isGranted ? 0 : more;
      after = isGranted ? after : present;
      return after;
    }

    Variants now() {
      return Objects.requireNonNull(after);
    }
  }

  /** Asks for that much more of the heap; of less than nothing, all is granted. */
  @CanIgnoreReturnValue
  private boolean charge(int moreUnits) {
    return moreUnits == 0 || memory.charge((long) moreUnits * UNIT_BYTES);
  }

  /** What is under a key has changed. */
  private void count(@Nullable Variants before, @Nullable Variants after) {
    units.addAndGet((after == null ? 0L : units(after)) - (before == null ? 0L : units(before)));
    heapUnits.addAndGet(heapUnits(after) - heapUnits(before));
  }

  // What leaves

  /** Removes what is under that key, and says how many responses that were. Borrows the key. */
  public int remove(CacheKey key) {
    hurryIfBusy();
    Variants last = cache.remove(key);
    if (last == null) {
      return 0;
    }
    note(Event.REMOVED, key, 0);
    left(last);
    return last.size();
  }

  /** A key has left: ends the leases of what was under it, and what it is charged. */
  private void left(Variants last) {
    count(last, null);
    charge(-heapUnits(last));
    last.releaseExcept(null);
  }

  /** Removes everything, and says how many responses that were. Not on a loop. */
  public int clear() {
    LongAdder removed = new LongAdder();
    cache.forEach(
        (key, variants) -> {
          removed.add(remove(key));
          keepUp();
        });
    return removed.intValue();
  }

  /** For who removes much: lets the order follow, so that what is stored meanwhile has room. */
  public void keepUp() {
    if (cache.isBusy()) {
      cache.cleanUp();
    }
  }

  /**
   * Has the maintenance begin before the index is behind with its changes, which would keep out
   * what is to be stored.
   */
  private void hurryIfBusy() {
    if (cache.isBusy()) {
      upkeep.hurry();
    }
  }

  // Room for more

  /**
   * Removes some of what is least worth keeping, until that gives back {@code bytes}. Waits for
   * nobody: if the policy has not made room by now, the index does it by LRU, for a few keys at a
   * time.
   *
   * @return what it gives back, as soon as nobody reads it any more
   */
  public long evict(long bytes) {
    return evictUnits(Math.ceilDiv(bytes, UNIT_BYTES)) * UNIT_BYTES;
  }

  private long evictUnits(long wanted) {
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
    int bit = 1 << reason.ordinal();
    if ((said.get() & bit) == 0 && (said.getAndUpdate(bits -> bits | bit) & bit) == 0) {
      log.log(
          Level.WARNING,
          "memory: evicting by LRU, from samples, because " + reason.text + " (said once)");
    }
    return cache.evictBySample(
        wanted,
        most,
        last -> {
          fallbackEvictions.increment();
          end(last);
        });
  }

  /** Has the policy evict so much more, off the loops: whoever asks goes on without the room. */
  public void evictSoon(long bytes) {
    roomUnits.accumulateAndGet(Math.ceilDiv(bytes, UNIT_BYTES), Math::max);
    upkeep.hurry();
  }

  /**
   * So much memory was taken for a response on its way. If memory is short, the policy evicts as
   * much soon, and at once if it is very short. Waits for nobody.
   */
  public void taken(long bytes) {
    long free = memory.freeBytes() / UNIT_BYTES;
    if (free < spareUnits()) {
      wantedUnits.addAndGet(Math.ceilDiv(bytes, UNIT_BYTES));
      if (free < spareUnits() / 2) {
        upkeep.hurry();
      } else {
        upkeep.ask();
      }
    }
  }

  private long spareUnits() {
    return capacityUnits / SPARE_DIVISOR;
  }

  /** Gives back what the cache has evicted. */
  private void endEvicted() {
    for (Variants last = evicted.poll(); last != null; last = evicted.poll()) {
      end(last);
    }
  }

  private void end(Variants last) {
    evictions.increment();
    left(last);
  }

  // On the index thread

  /** If it fails, the index goes on by LRU until it works again. */
  private void maintain() {
    boolean isDone = false;
    try {
      cache.maintain();
      endEvicted();
      checkWeight();
      follow(judge.hear(samples));
      keepSpare();
      isDone = true;
    } finally {
      isFailed = !isDone;
      if (isFailed) {
        evictByLru(units.get() - capacityUnits, Integer.MAX_VALUE, Reason.FAILED);
      }
      endEvicted();
    }
  }

  /** What comes in during two turns of the maintenance is less than what is kept free. */
  private void checkWeight() {
    for (int turn = 0; units.get() > capacityUnits + spareUnits(); turn++) {
      if (turn > 0) {
        throw new IllegalStateException(
            "units: " + units + " (expected: about " + capacityUnits + ", after the maintenance)");
      }
      cache.maintain();
      endEvicted();
    }
  }

  private void follow(Policy advice) {
    if (advice != cache.policy()) {
      cache.choose(advice);
      judge.switched(advice);
    }
  }

  /**
   * What readers hold does not come free at once, so no more is evicted than was taken. Whoever
   * asks for room meanwhile may find it in what is evicted, or asks again.
   */
  private void keepSpare() {
    long taken = wantedUnits.getAndSet(0);
    long spare = Math.min(taken, spareUnits() - memory.freeBytes() / UNIT_BYTES);
    long missing = Math.max(spare, roomUnits.getAndSet(0));
    if (missing > 0) {
      cache.evictByPolicy(missing, this::end);
      roomUnits.set(0);
    }
  }

  // For operators

  /** How many keys there are; an estimate while others change the index. */
  public long size() {
    return cache.size();
  }

  /** What all stored responses weigh, with an estimate of what they take on the heap. */
  public long weightBytes() {
    return units.get() * UNIT_BYTES;
  }

  /** What of that is on the heap, nearly. */
  public long heapBytes() {
    return heapUnits.get() * UNIT_BYTES;
  }

  /** How many keys were evicted for want of room since the start. */
  public long evictions() {
    return evictions.sum();
  }

  /** How many of those the index evicted by LRU, because the policy had made no room. */
  public long fallbackEvictions() {
    return fallbackEvictions.sum();
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

  /** Tells which policy chooses what to forget, and what other memory would hit. */
  public PolicyJudge judge() {
    return judge;
  }

  /** Tells of that index in {@code registry}. */
  public void register(MetricRegistry registry) {
    registry.gauge("kamille_cache_keys", "Target URIs that something is stored under.", this::size);
    registry.counting(
        "kamille_cache_evictions_total",
        "Target URIs whose stored responses were forgotten to make room.",
        this::evictions);
    registry.counting(
        "kamille_cache_fallback_evictions_total",
        "Evictions that the cache chose without Caffeine, whose maintenance had"
            + " failed, was behind, or had made no room when some was needed.",
        this::fallbackEvictions);
    registry.counting(
        "kamille_cache_index_failures_total",
        "How often the upkeep of the index failed. It goes on; the log has the first cause.",
        upkeep::failures);
    registry.counting(
        "kamille_cache_index_refusals_total",
        "Responses that were not stored because the index was behind with its changes.",
        this::refusals);
    registry.counting(
        "kamille_cache_policy_switches_total",
        "Changes of the replacement policy, by the setting or by what it would have hit.",
        () -> judge.snapshot().switches());
    for (Policy each : Policy.values()) {
      registry.gauge(POLICY, () -> judge.snapshot().policy() == each ? 1 : 0, each.token());
      registry.gauge(OBJECT_HITS, () -> estimate(each).objectHitRatio(), each.token());
      registry.gauge(BYTE_HITS, () -> estimate(each).byteHitRatio(), each.token());
    }
  }

  private Estimate estimate(Policy policy) {
    return judge.snapshot().estimates().get(policy.ordinal());
  }
}
