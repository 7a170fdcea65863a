package io.kamille.cache.tiers;

import io.kamille.cache.index.CaffeineIndex;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.peak.PeakWatch;
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
   */
  private static final long FILLS_LIMIT_BYTES = 256L << 20;

  private final Arena arena;
  private final CaffeineIndex index;
  private final PurgeTable purges;
  private final @Nullable DiskCopies copies;
  private final PurgeSettlement settlement;
  private final MemoryRoom room;
  private final TierChanges tiers;
  private final Promotions promotions;
  private final StoreFigures figures;
  private final ChangeStripes removals = new ChangeStripes();
  private final LongAdder removed = new LongAdder();

  /** A store over an arena that stays the caller's to close, when everything is released. */
  public TieredStore(Arena arena, CaffeineIndex index, PurgeTable purges) {
    this(arena, index, purges, null);
  }

  /** The same with copies on a disk, if there are any. */
  public TieredStore(
      Arena arena, CaffeineIndex index, PurgeTable purges, @Nullable DiskCopies copies) {
    this.arena = arena;
    this.index = index;
    this.purges = purges;
    this.copies = copies;
    this.settlement = new PurgeSettlement(index, purges);
    this.room = new MemoryRoom(arena, index);
    this.tiers = new TierChanges(index, settlement, copies);
    this.promotions = new Promotions(index, settlement, copies);
    this.figures = new StoreFigures(arena, index, settlement, removed);
  }

  /**
   * A moment in the order of all removals.
   *
   * @param removals how many there were of its key and of everything
   * @param purge the last purge
   */
  public record Moment(long removals, long purge) {}

  /**
   * How much of an arena an index may fill. The rest is the headroom that keeps objects in one
   * block, in proportion to the capacity, and as much again, up to 256 MiB, for fills on their way
   * and for what is forgotten and still read.
   */
  public static long indexCapacityBytes(long arenaCapacityBytes) {
    long headroomBytes = Arena.headroomBytes(arenaCapacityBytes);
    return arenaCapacityBytes - headroomBytes - Math.min(headroomBytes, FILLS_LIMIT_BYTES);
  }

  /**
   * The variants under that key that are not purged, or null. Takes no lease, keeps no key, and
   * allocates nothing unless something was purged since the key was last looked at.
   */
  public @Nullable Variants find(CacheKey key) {
    return settlement.unpurged(key, index.find(key));
  }

  /** As {@link #find}, but no request for what is there: for purges, copies and explanations. */
  public @Nullable Variants peek(CacheKey key) {
    return settlement.unpurged(key, index.peek(key));
  }

  /**
   * Compares what is under a key with the purges that came since it was last looked at. Makes
   * pauses if it removes much, so not on a loop.
   */
  public void sweep(CacheKey key, Variants variants) {
    settlement.sweep(key, variants);
  }

  /**
   * Makes what is stored under that key stale, and says how many responses that were. What is on
   * its way is not stored.
   */
  public int soften(CacheKey key, Purge purge) {
    removals.add(key, 1);
    return tiers.soften(key, purge);
  }

  /** What {@link #commit} wants to know: asked before the request is forwarded. */
  public Moment moment(CacheKey key) {
    return new Moment(removals.of(key), purges.last());
  }

  /**
   * Makes room for a response.
   *
   * @param lengthBytes octets to come, or, when that is unknown, those there are at least
   * @param home the number of the caller's loop
   * @return null if there is not enough memory, even with everything forgotten that can be
   */
  public @Nullable Reservation reserve(long lengthBytes, int home) {
    return reservation(lengthBytes, home, null);
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
    return reservation(lengthBytes, home, key);
  }

  private @Nullable Reservation reservation(long lengthBytes, int home, @Nullable CacheKey key) {
    ArenaWriter writer = room.writer(lengthBytes, home);
    return writer == null ? null : new Reservation(room, writer, lengthBytes, key);
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
    if (isStillGood(key, before) && !settlement.isPurged(response)) {
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
    if (isStillGood(key, before)
        && !settlement.isPurged(response)
        && !settlement.fellUnderAPurge(asked, before.purge())) {
      put(key, response, before);
      if (settlement.fellUnderAPurge(asked, before.purge())) {
        index.replace(key, response, null);
      }
    }
    return response;
  }

  private void put(CacheKey key, StoredResponse response, Moment before) {
    tiers.put(key, response);
    if (!isStillGood(key, before)) {
      tiers.remove(key);
    }
  }

  /** Whether that content is what is to be found under a key, whatever its head. */
  public boolean holds(CacheKey key, StoredResponse response) {
    Variants variants = peek(key);
    return variants != null && variants.sameContent(response) != null;
  }

  /** Whether what was forwarded then may be stored now, as far as its key tells. */
  private boolean isStillGood(CacheKey key, Moment before) {
    return removals.of(key) == before.removals() && purges.floor() <= before.purge();
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
    removals.add(key, 1);
    int count = tiers.remove(key);
    removed.add(count);
    return count;
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    removals.addToAll(1);
    int count = tiers.clear();
    removed.add(count);
    return count;
  }

  /** Tells that one, or nobody, of removals; of replacements, too, if it has all that we have. */
  public void tell(@Nullable RemovalListener listener, boolean hasOurs) {
    tiers.tell(listener, hasOurs);
  }

  /** Tells that one, too, of what is removed, but not of what is replaced; null for nobody. */
  public void tellElder(@Nullable RemovalListener elder) {
    tiers.tellElder(elder);
  }

  /** Makes a response visible that another process stored, if there is room. Takes over a lease. */
  public boolean adopt(CacheKey key, StoredResponse response) {
    response.unpurged(0, purges.last());
    index.pause();
    boolean isIn = index.put(key, response, () -> true);
    if (!isIn) {
      response.release();
    }
    return isIn;
  }

  /** Forgets everything in memory; copies stay. Comes last. */
  public void close() {
    index.clear();
  }

  // Copies on a disk

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

  /** How many copies there seem to be under that key. */
  public int copies(CacheKey key) {
    return copies == null ? 0 : copies.count(key);
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

  /** Makes a response visible that was read from the disk: {@link Promotions#promote}. */
  public @Nullable StoredResponse promote(
      CacheKey key,
      Reservation reservation,
      long changes,
      long unpurgedUpTo,
      Completion completion) {
    return promotions.promote(key, finish(reservation, completion), changes, unpurgedUpTo);
  }

  /** A response that stays on the disk, for the requests that wait: {@link Promotions#lend}. */
  public @Nullable StoredResponse lend(
      CacheKey key, StoredResponse response, long changes, long unpurgedUpTo) {
    return promotions.lend(key, response, changes, unpurgedUpTo);
  }

  /** How often something changed under that key, for {@link #promote}. */
  public long changes(CacheKey key) {
    return promotions.changes(key);
  }

  /** Whether a response that was found once fell under no purge since, on which a lease is held. */
  public boolean isUnpurged(StoredResponse response) {
    return settlement.isUnpurged(response);
  }

  /** Shows everything that is stored. Purged or not: {@link #sweep} comes first. */
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    index.forEach(reader);
  }

  /** Lets that policy choose what to forget, from now on. */
  public void choose(PolicyChoice choice) {
    index.choose(choice);
  }

  /** As {@link CaffeineIndex#watch}. */
  public void watch(long seconds) {
    index.watch(seconds);
  }

  /** As {@link CaffeineIndex#forecast}. */
  public @Nullable Forecast forecast() {
    return index.forecast();
  }

  /** Which policy chooses what to forget, and why. */
  public PolicySnapshot policy() {
    return index.policy();
  }

  public long capacityBytes() {
    return arena.capacityBytes();
  }

  /** What is taken of the arena: stored, being filled, or forgotten and still read. */
  public long usedBytes() {
    return arena.usedBytes();
  }

  /** How many keys something is stored under; an estimate while fills go on. */
  public long size() {
    return index.size();
  }

  /** What metrics and operators are told of it. */
  public StoreFigures figures() {
    return figures;
  }
}
