package io.kamille.cache.tier;

import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.index.ResponseIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.peak.PeakWatch;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
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
   * Purges by tag and prefix are notes in a table of their own. What is found is compared with those
   * that came since it was last looked at; what fell under one leaves the index, or is put back as
   * stale. A response that is committed late is older than they are, and meets the same fate.
   *
   * The index is asked before memory is taken whether a response is worth it, and again when one
   * of unknown length turns out to be large. It keeps some memory free. When that is not enough, so
   * much is evicted that the free memory would suffice. Readers may hold evicted content, so a few
   * rounds get past a few slow readers; forgetting the whole cache for one response would help
   * nobody. Nor is more evicted for what comes free soon anyhow: this response goes past, the next
   * finds room.
   */
  private static final int STRIPES = 1 << 17;
  private static final int ROUNDS = 8;

  private final Arena arena;
  private final ResponseIndex index;
  private final PurgeTable purges;
  private final @Nullable DiskCopies copies;
  private final AtomicIntegerArray removals = new AtomicIntegerArray(STRIPES);
  private final AtomicLong clears = new AtomicLong();
  private final LongAdder removed = new LongAdder();
  private final LongAdder madeStale = new LongAdder();

  /** A store over an arena that stays the caller's to close, when everything is released. */
  public TieredStore(Arena arena, ResponseIndex index, PurgeTable purges) {
    this(arena, index, purges, null);
  }

  /** The same with copies on a disk, if there are any. */
  public TieredStore(
      Arena arena, ResponseIndex index, PurgeTable purges, @Nullable DiskCopies copies) {
    this.arena = arena;
    this.index = index;
    this.purges = purges;
    this.copies = copies;
  }

  /**
   * A moment in the order of all removals.
   *
   * @param removals how many there were of its key and of everything
   * @param purge the last purge
   */
  public record Moment(long removals, long purge) {}

  /**
   * How much of an arena an index may fill: the rest is for fills on their way and for what is
   * forgotten and still read.
   */
  public static long indexCapacityBytes(long arenaCapacityBytes) {
    return arenaCapacityBytes - Math.min(arenaCapacityBytes / 16, 512L << 20);
  }

  /**
   * The variants under that key that are not purged, or null. Takes no lease, keeps no key, and
   * allocates nothing unless something was purged since the key was last looked at.
   */
  public @Nullable Variants find(CacheKey key) {
    return unpurged(key, index.find(key));
  }

  /** As {@link #find}, but no request for what is there: for purges, copies and explanations. */
  public @Nullable Variants peek(CacheKey key) {
    return unpurged(key, index.peek(key));
  }

  private @Nullable Variants unpurged(CacheKey key, @Nullable Variants under) {
    Variants found = under;
    while (found != null && !found.areUnpurgedUpTo(purges.last())) {
      settle(key, found);
      found = index.peek(key);
    }
    return found;
  }

  /** Compares what is under a key with the purges that came since it was last looked at. */
  public void settle(CacheKey key, Variants variants) {
    long upTo = purges.last();
    for (int i = 0; i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      long since = response.unpurgedUpTo();
      if (since < upTo && response.tryRetain()) {
        Purge purge = purgeOf(response, since);
        if (purge == null) {
          response.unpurged(since, upTo);
        } else if (replace(key, response, purge, upTo)) {
          purge.affected(1);
        }
        response.release();
      }
    }
  }

  /** The purge that a response, on which the caller holds a lease, fell under since then. */
  private @Nullable Purge purgeOf(StoredResponse response, long since) {
    return purges.find(since, response.facts().tags(), () -> NormalUri.of(response.uri()));
  }

  /** Does what a purge asks for with a response on which the caller holds a lease. */
  private boolean replace(CacheKey key, StoredResponse response, Purge purge, long upTo) {
    boolean isReplaced =
        purge.isSoft()
            ? soften(key, response, purge, upTo)
            : index.replace(key.copy(), response, null);
    if (isReplaced) {
      (purge.isSoft() ? madeStale : removed).increment();
    }
    return isReplaced;
  }

  private boolean soften(CacheKey key, StoredResponse response, Purge purge, long upTo) {
    if (!response.facts().isFresh(purge.epochSeconds())) {
      response.unpurged(response.unpurgedUpTo(), upTo);
      return false;
    }
    response.retain();
    StoredResponse stale = response.staleSince(purge.epochSeconds());
    stale.unpurged(0, upTo);
    boolean isReplaced = index.replace(key.copy(), response, stale);
    if (!isReplaced) {
      stale.forget();
    }
    return isReplaced;
  }

  /**
   * Makes what is stored under that key stale, and says how many responses that were. What is on
   * its way is not stored.
   */
  public int soften(CacheKey key, Purge purge) {
    removals.incrementAndGet(stripe(key));
    beginChange(key);
    Variants variants = peek(key);
    int count = 0;
    for (int i = 0; variants != null && i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      if (response.tryRetain()) {
        count += replace(key, response, purge, response.unpurgedUpTo()) ? 1 : 0;
        response.release();
      }
    }
    if (copies != null) {
      copies.remove(key);
      copies.end(key);
    }
    return count;
  }

  /** What {@link #commit} wants to know: asked before the request is forwarded. */
  public Moment moment(CacheKey key) {
    return new Moment(removalsOf(key), purges.last());
  }

  private long removalsOf(CacheKey key) {
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
    return reserve(lengthBytes, home, null);
  }

  /**
   * Makes room for a response under that key that {@link #pays}. When more comes of it than was
   * said, that has to pay too.
   *
   * @param key kept until the reservation ends
   * @param lengthBytes octets to come, or, when that is unknown, those there are at least
   * @param home the number of the caller's loop
   * @return null if there is not enough memory for it
   */
  public @Nullable Reservation reserve(CacheKey key, long lengthBytes, int home) {
    return reserve(lengthBytes, home, key);
  }

  private @Nullable Reservation reserve(long lengthBytes, int home, @Nullable CacheKey key) {
    ArenaWriter writer = arena.writer(lengthBytes, home);
    if (writer == null && makeRoom(lengthBytes)) {
      writer = arena.writer(lengthBytes, home);
    }
    if (writer == null) {
      return null;
    }
    index.taken(lengthBytes);
    return new Reservation(this, writer, lengthBytes, key);
  }

  /**
   * Whether a response under that key, which was asked for and not found, is worth the memory it
   * takes. Asked once for each; counts as a request for it.
   *
   * @param lengthBytes octets to come, or, when that is unknown, those there are at least
   */
  public boolean pays(CacheKey key, long lengthBytes) {
    return index.admits(key, lengthBytes);
  }

  /** Whether it still does when it has that length. */
  boolean stillPays(CacheKey key, long lengthBytes) {
    return index.wouldAdmit(key, lengthBytes);
  }

  /** A response on its way has taken so much more. */
  void taken(long bytes) {
    index.taken(bytes);
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
   * @param before what {@link #moment} said
   * @return the response with a lease that the caller owns
   */
  public StoredResponse commit(
      CacheKey key, Reservation reservation, Moment before, Completion completion) {
    StoredResponse response = finish(reservation, completion);
    response.unpurged(0, before.purge());
    if (isStillGood(key, before) && !isPurged(response)) {
      put(key, response, before);
    }
    return response;
  }

  /**
   * As {@link #commit}, for a stored response that gets a new head (RFC 9111 §4.3.4). What was
   * purged meanwhile by what it was before, its old tags too, is not stored anew.
   *
   * @param asked the response that the origin was asked about, on which the caller holds a lease
   */
  public StoredResponse commitFreshened(
      CacheKey key,
      Reservation reservation,
      Moment before,
      StoredResponse asked,
      Completion completion) {
    StoredResponse response = finish(reservation, completion);
    response.unpurged(0, before.purge());
    if (isStillGood(key, before) && !isPurged(response) && !fellUnderAPurge(asked, before)) {
      put(key, response, before);
      if (fellUnderAPurge(asked, before)) {
        index.replace(key, response, null);
      }
    }
    return response;
  }

  private void put(CacheKey key, StoredResponse response, Moment before) {
    response.retain();
    beginChange(key);
    index.put(key, response);
    if (copies != null) {
      copies.replace(key, response);
      copies.end(key);
      copies.stored(key, response, index);
    }
    if (!isStillGood(key, before)) {
      removeFromTiers(key);
    }
  }

  /** Whether a response was purged, hard or softly, since it was found or the origin was asked. */
  private boolean fellUnderAPurge(StoredResponse asked, Moment before) {
    long since = Math.min(before.purge(), asked.unpurgedUpTo());
    return since < purges.last() && purgeOf(asked, since) != null;
  }

  /** Whether that content is what is to be found under a key, whatever its head. */
  public boolean holds(CacheKey key, StoredResponse response) {
    Variants variants = peek(key);
    return variants != null && variants.sameContent(response) != null;
  }

  /** Whether a response is not worth storing, because the next look would remove it. */
  private boolean isPurged(StoredResponse response) {
    long since = response.unpurgedUpTo();
    Purge purge = since < purges.last() ? purgeOf(response, since) : null;
    return purge != null && !purge.isSoft();
  }

  /** Whether what was forwarded then may be stored now, as far as its key tells. */
  private boolean isStillGood(CacheKey key, Moment before) {
    return removalsOf(key) == before.removals() && purges.floor() <= before.purge();
  }

  /**
   * Gives a stored response coded forms, if it is still stored under that key; if not, they are
   * forgotten. The caller holds a lease on the response. Takes over one on each form.
   *
   * @return the response with them, or the one that was given; the caller's lease is on either
   */
  public StoredResponse attach(CacheKey key, StoredResponse response, CodedForms forms) {
    response.retain();
    StoredResponse coded = response.with(forms);
    if (index.replace(key, response, coded)) {
      return coded;
    }
    coded.forget();
    return response;
  }

  /** Ends a fill whose response nobody is to find. The caller owns one lease on it. */
  public StoredResponse finish(Reservation reservation, Completion completion) {
    return completion.of(reservation.finish());
  }

  /** Removes what is stored under that key, and says how many responses that were. */
  public int remove(CacheKey key) {
    removals.incrementAndGet(stripe(key));
    int count = removeFromTiers(key);
    removed.add(count);
    return count;
  }

  private int removeFromTiers(CacheKey key) {
    beginChange(key);
    int count = index.remove(key);
    if (copies != null) {
      count = Math.max(count, copies.remove(key));
      copies.end(key);
    }
    return count;
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    clears.incrementAndGet();
    if (copies != null) {
      copies.beginAll();
    }
    int count = index.clear();
    if (copies != null) {
      copies.clear();
      copies.endAll();
    }
    removed.add(count);
    return count;
  }

  /** Forgets everything in memory; copies stay. Comes last. */
  public void close() {
    index.clear();
  }

  // Copies on a disk

  private void beginChange(CacheKey key) {
    if (copies != null) {
      copies.begin(key);
    }
  }

  /** A stored response was sent from memory. Borrows both; the caller holds a lease. */
  public void asked(CacheKey key, StoredResponse response, long nowEpochSeconds) {
    if (copies != null) {
      copies.asked(key, response, index, nowEpochSeconds);
    }
  }

  /**
   * Has a stored response written to the disk, if that has not been seen to. Borrows both; the
   * caller holds a lease.
   *
   * @return false if it should be tried again: too much waits to be written
   */
  public boolean copy(CacheKey key, StoredResponse response) {
    return copies == null || copies.copy(key, response, index);
  }

  /** The copies on a disk, or null. */
  public @Nullable DiskCopies copies() {
    return copies;
  }

  /** How many copies there seem to be under that key. */
  public int copies(CacheKey key) {
    return copies == null ? 0 : copies.count(key);
  }

  /** An origin began its answer after that time. */
  public void originAnswered(long nanos) {
    if (copies != null) {
      copies.peak().originAnswered(nanos);
    }
  }

  /** When requests leave the disk alone, or null if there is none. */
  public @Nullable PeakWatch peak() {
    return copies == null ? null : copies.peak();
  }

  /**
   * Runs {@code action} when what was removed and purged before this call holds for later processes
   * too. On any thread, at once if nothing outlives this process.
   */
  public void whenKept(Runnable action) {
    if (copies == null) {
      action.run();
    } else {
      copies.whenWritten(action);
    }
  }

  /**
   * Makes a response visible that was read from the disk.
   *
   * @param key kept
   * @param changes what {@link #changes} said before the disk was asked
   * @param unpurgedUpTo the purge up to which it was known not to be purged
   * @return the response with a lease that the caller owns; null if it must not be used
   */
  public @Nullable StoredResponse promote(
      CacheKey key,
      Reservation reservation,
      long changes,
      long unpurgedUpTo,
      Completion completion) {
    StoredResponse response = finish(reservation, completion);
    response.unpurged(0, unpurgedUpTo);
    response.claimCopy();
    boolean isUsable =
        !DiskCopies.isUnderWay(changes)
            && !isPurged(response)
            && !DiskCopies.hasSame(peek(key), response);
    response.retain();
    if (isUsable && index.put(key, response, () -> changes(key) == changes)) {
      return response;
    }
    response.release();
    response.release();
    return null;
  }

  /**
   * A response that stays on the disk, for the requests that wait for it: nobody else finds it.
   * Takes over one lease on it.
   *
   * @param changes what {@link #changes} said before the disk was asked
   * @param unpurgedUpTo the purge up to which it was known not to be purged
   * @return it, with a lease that the caller owns; null if it must not be used
   */
  public @Nullable StoredResponse lend(
      CacheKey key, StoredResponse response, long changes, long unpurgedUpTo) {
    response.unpurged(0, unpurgedUpTo);
    response.claimCopy();
    boolean isUsable =
        !DiskCopies.isUnderWay(changes)
            && isUnpurged(response)
            && !DiskCopies.hasSame(peek(key), response)
            && changes(key) == changes;
    if (!isUsable) {
      response.release();
    }
    return isUsable ? response : null;
  }

  /** How often something changed under that key, for {@link #promote}. */
  public long changes(CacheKey key) {
    return copies == null ? 0 : copies.changes(key);
  }

  /** Whether a response that was found once fell under no purge since, on which a lease is held. */
  public boolean isUnpurged(StoredResponse response) {
    long since = response.unpurgedUpTo();
    return since >= purges.last() || purgeOf(response, since) == null;
  }

  /** Shows everything that is stored. Purged or not: {@link #settle} comes first. */
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    index.forEach(reader);
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

  /** Lets that policy choose what to forget, from now on. */
  public void choose(PolicyChoice choice) {
    index.choose(choice);
  }

  /** Which policy chooses what to forget, and why. */
  public PolicySnapshot policy() {
    return index.policy();
  }

  public long capacityBytes() {
    return arena.capacityBytes();
  }

  /** What the memory is taken by. */
  public MemorySnapshot memory() {
    long used = arena.usedBytes();
    long indexed = arena.chargedBytes();
    long stored = index.weightBytes() - index.heapBytes();
    long filling = arena.writingBytes();
    long renewing = arena.renewingBytes();
    long retired = arena.retiredBytes();
    long leased = Math.max(0, used - indexed - stored - filling - renewing - retired);
    return new MemorySnapshot(
        arena.capacityBytes(), stored, indexed, filling, leased, renewing, retired);
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

  /** How many of them by LRU because the policy had made no room. */
  public long fallbackEvictions() {
    return index.fallbackEvictions();
  }

  /** How many responses were not stored because the index was behind. */
  public long refusals() {
    return index.refusals();
  }

  /** How many responses were removed by purges and invalidation since the start. */
  public long removed() {
    return removed.sum();
  }

  /** How many responses were made stale by purges since the start. */
  public long madeStale() {
    return madeStale.sum();
  }

  private static int stripe(CacheKey key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 16) & (STRIPES - 1);
  }
}
