package io.kamille.cache.tiers;

import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The stored responses of all routes: an index, the arena their octets lie in, and copies on a
 * disk, if there is one. Any thread.
 */
public final class TieredStore {

  private static final MetricDescriptor CAPACITY =
      MetricDescriptor.gauge(
          "kamille_cache_memory_capacity_bytes",
          Unit.BYTES,
          "Memory for stored responses, taken at start and never exceeded.");

  public static final MetricDescriptor USED =
      MetricDescriptor.gauge(
          "kamille_cache_memory_used_bytes",
          Unit.BYTES,
          "Memory taken by responses that are stored, being stored, or forgotten and still sent.");

  private static final MetricDescriptor RETIRED =
      MetricDescriptor.gauge(
          "kamille_cache_memory_retired_bytes",
          Unit.BYTES,
          "Memory lost until a restart, because the kernel did not replace pages that connections"
              + " may still send. Part of the used memory; zero unless something is wrong.");

  private static final MetricDescriptor PART =
      MetricDescriptor.gauge(
          "kamille_cache_memory_part_bytes",
          Unit.BYTES,
          "Used memory by its use. index: nearly what entries take on the heap. filling: responses"
              + " on their way. leased: no longer stored, but still read or sent.",
          "part");

  private static final MetricDescriptor REGIONS =
      MetricDescriptor.counter(
          "kamille_cache_region_bytes_total",
          Unit.BYTES,
          "Stored content that went to clients by sendfile, without a copy.");

  private static final MetricDescriptor PURGED =
      MetricDescriptor.counter(
          "kamille_cache_purged_responses_total",
          Unit.COUNT,
          "Stored responses that were removed (hard) or made stale (soft), by purges or because an"
              + " unsafe request made them invalid.",
          "mode");

  /*
   * A response that was on its way when its key was purged or invalidated must not be stored
   * afterwards: it may be older than the reason for the purge. So removals are counted, per stripe
   * of keys; a fill remembers the count from before its request was forwarded, and commits only
   * if nothing was removed since. After the put it looks again, because a removal counts first and
   * removes then: whichever comes second sees the other. Two keys in one stripe cost at most one
   * response that could have been stored; every unsafe request removes, so there are many
   * stripes.
   *
   * A change under a key concerns memory and disk, as one change (DiskCopies). While another
   * process has the disk, it is told of each removal, after our own tiers: a removal that came too
   * late for the disk finds the listener, which is set before the disk is closed. What replaces a
   * copy removes it there: the other process must not serve the older one.
   */
  private static final long FILLS_LIMIT_BYTES = 256L << 20;

  private final Arena arena;
  private final MemoryIndex index;
  private final PurgeTable purges;
  private final @Nullable DiskCopies copies;
  private final PurgeSettlement settlement;
  private final ChangeStripes removals = new ChangeStripes();
  private final LongAdder removed = new LongAdder();

  // Volatile: set by whoever hands over, read by all.
  private volatile @Nullable RemovalListener listener;
  // Volatile: set by whoever takes over, read by all.
  private volatile @Nullable RemovalListener elder;

  /**
   * A store over an arena that stays the caller's to close, when everything is released.
   *
   * @param copies on a disk, if there is one
   */
  public TieredStore(
      Arena arena, MemoryIndex index, PurgeTable purges, @Nullable DiskCopies copies) {
    this.arena = arena;
    this.index = index;
    this.purges = purges;
    this.copies = copies;
    this.settlement = new PurgeSettlement(index, purges);
  }

  /**
   * A moment in the order of all removals.
   *
   * @param removals how many there were of its key and of everything
   * @param purge the last purge
   */
  public record Moment(long removals, long purge) {

    /** What began then is not stored. */
    public static final Moment NEVER = new Moment(-1, -1);
  }

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
    return unpurged(key, index.find(key));
  }

  /** As {@link #find}, but no request for what is there: for purges, copies and explanations. */
  public @Nullable Variants peek(CacheKey key) {
    return unpurged(key, index.peek(key));
  }

  private @Nullable Variants unpurged(CacheKey key, @Nullable Variants found) {
    return found == null || found.areUnpurgedUpTo(purges.last())
        ? found
        : settlement.unpurged(key, found);
  }

  /**
   * Compares what is under a key with the purges that came since it was last looked at. Makes
   * pauses if it removes much, so not on a loop.
   */
  public void sweep(CacheKey key, Variants variants) {
    settlement.sweep(key, variants);
  }

  /** What the last purges removed, of which the sweep and {@link #remember} know. */
  public PurgedUrls purgedUrls() {
    return settlement.urls();
  }

  /** Remembers what is stored under a key that a purge is about to remove. Not on a loop. */
  public void remember(CacheKey key, Purge purge) {
    Variants variants = peek(key);
    if (variants != null) {
      variants.forEach(response -> settlement.urls().add(purge, response));
    }
  }

  /** What {@link #commitUnlessPurged} wants to know: asked before the request is forwarded. */
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
    return Reservation.open(arena, index, lengthBytes, home, null);
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
    return Reservation.open(arena, index, lengthBytes, home, key);
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
   * Ends a fill. Its response is visible to the next request unless it was purged or invalidated
   * since the fill began ({@link PurgeSettlement}). A stored response that gets a new head (RFC
   * 9111 §4.3.4) is not stored anew if what it was before was purged meanwhile, by its old tags
   * too.
   *
   * @param before what {@link #moment} said
   * @param asked the response that the origin was asked about and that gets a new head, on which
   *     the caller holds a lease; null for another response
   * @return the response with a lease that the caller owns
   */
  public StoredResponse commitUnlessPurged(
      CacheKey key,
      Reservation reservation,
      Moment before,
      @Nullable StoredResponse asked,
      Completion completion) {
    StoredResponse response = finish(reservation, completion);
    try {
      response.unpurged(0, before.purge());
      if (isStillGood(key, before)
          && !settlement.isPurged(response)
          && !fellUnderAPurge(asked, before)) {
        put(key, response, before);
        if (fellUnderAPurge(asked, before)) {
          index.replace(key, response, null);
        }
      }
    } catch (RuntimeException | Error fault) {
      response.release();
      throw fault;
    }
    return response;
  }

  private boolean fellUnderAPurge(@Nullable StoredResponse asked, Moment before) {
    return asked != null && settlement.fellUnderAPurge(asked, before.purge());
  }

  /** A response takes the place of the one with the same selecting fields. Borrows it. */
  private void put(CacheKey key, StoredResponse response, Moment before) {
    response.retain();
    begin(key);
    try {
      boolean isPut = false;
      try {
        isPut = index.put(key, response, () -> true);
      } finally {
        if (!isPut) {
          response.forget();
        }
      }
      if (!isPut) {
        removeOlder(key, response);
      }
      if (copies != null) {
        copies.replace(key, response);
      }
    } finally {
      end(key);
    }
    if (copies != null) {
      copies.stored(key, response, index);
    }
    RemovalListener told = listener;
    if (told != null && copies != null && copies.mayHaveHad(key)) {
      told.removed(key);
    }
    if (!isStillGood(key, before)) {
      removeFromTiers(key);
    }
  }

  /** What could not be stored is newer than what has its place: that must not be found any more. */
  private void removeOlder(CacheKey key, StoredResponse newer) {
    Variants variants = index.peek(key);
    StoredResponse older = variants == null ? null : variants.selectedBy(newer.selecting());
    if (older != null && older.tryRetain()) {
      index.replace(key.copy(), older, null);
      older.release();
    }
  }

  private void begin(CacheKey key) {
    if (copies != null) {
      copies.begin(key);
    }
  }

  private void end(CacheKey key) {
    if (copies != null) {
      copies.end(key);
    }
  }

  /** Whether that content is what is to be found under a key, whatever its head. */
  public boolean holds(CacheKey key, StoredResponse response) {
    Variants variants = peek(key);
    return variants != null && variants.sameContent(response) != null;
  }

  /** Whether what was forwarded then may be stored now, as far as its key tells. */
  private boolean isStillGood(CacheKey key, Moment before) {
    return removals.of(key) == before.removals();
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
    int count = removeFromTiers(key);
    removed.add(count);
    return count;
  }

  /**
   * Removes one response that the origin has shown not to be suitable (RFC 9111 §4.3.3), unless it
   * was replaced or freshened meanwhile. What was asked for before and is about it is not stored.
   *
   * @param unsuitable as it was found; no lease is needed
   */
  public void withdraw(CacheKey key, StoredResponse unsuitable, long nowEpochSeconds) {
    Variants variants = peek(key);
    StoredResponse same = variants == null ? null : variants.sameContent(unsuitable);
    boolean isOther =
        same == null && variants != null && variants.selectedBy(unsuitable.selecting()) != null;
    if (isOther || (same != null && isFresh(same, nowEpochSeconds))) {
      return;
    }
    removals.add(key, 1);
    begin(key);
    try {
      if (same != null && index.replace(key.copy(), same, null)) {
        removed.add(1);
      }
      if (copies != null) {
        copies.replace(key, unsuitable);
      }
    } finally {
      end(key);
    }
    tellRemoved(key);
  }

  private static boolean isFresh(StoredResponse response, long now) {
    return response.facts().isFresh(now) && !response.facts().isValidatedAlways();
  }

  private int removeFromTiers(CacheKey key) {
    begin(key);
    int count;
    try {
      count = index.remove(key);
      if (copies != null) {
        count = Math.max(count, copies.remove(key));
      }
    } finally {
      end(key);
    }
    tellRemoved(key);
    return count;
  }

  /**
   * Makes what is stored under that key stale, and says how many responses that were; copies on a
   * disk are removed. What is on its way is not stored.
   */
  public int soften(CacheKey key, Purge purge) {
    removals.add(key, 1);
    begin(key);
    int count = 0;
    try {
      Variants variants = peek(key);
      for (int i = 0; variants != null && i < variants.size(); i++) {
        StoredResponse response = variants.at(i);
        if (response.tryRetain()) {
          response.unclaimCopy();
          count += settlement.replace(key, response, purge, response.unpurgedUpTo()) ? 1 : 0;
          response.release();
        }
      }
      if (copies != null) {
        copies.remove(key);
      }
    } finally {
      end(key);
    }
    tellRemoved(key);
    return count;
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    removals.addToAll(1);
    if (copies != null) {
      copies.beginAll();
    }
    int count = index.clear();
    if (copies != null) {
      copies.clear();
      copies.endAll();
    }
    tell(RemovalListener::cleared);
    removed.add(count);
    return count;
  }

  private void tellRemoved(CacheKey key) {
    if (listener != null || elder != null) {
      tell(told -> told.removed(key));
    }
  }

  private void tell(Consumer<RemovalListener> what) {
    RemovalListener heir = listener;
    if (heir != null) {
      what.accept(heir);
    }
    RemovalListener before = elder;
    if (before != null) {
      what.accept(before);
    }
  }

  /** Tells that one, or nobody, of removals. */
  public void tell(@Nullable RemovalListener next) {
    listener = next;
  }

  /** Tells that one, too, of what is removed, but not of what is replaced; null for nobody. */
  public void tellElder(@Nullable RemovalListener next) {
    elder = next;
  }

  /** Whether that one, too, is told. */
  public boolean tellsElder() {
    return elder != null;
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

  /**
   * Makes a response visible that was read from the disk, unless it was removed or replaced
   * meanwhile.
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
            && !settlement.isPurged(response)
            && !hasSame(key, response);
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
    StoredResponse settled = settlement.settled(response);
    boolean isUsable =
        settled != null
            && !DiskCopies.isUnderWay(changes)
            && !hasSame(key, response)
            && changes(key) == changes;
    if (settled != null && !isUsable) {
      settled.release();
    }
    return isUsable ? settled : null;
  }

  /** Whether memory has a response that is told apart by the same fields as that one. */
  private boolean hasSame(CacheKey key, StoredResponse response) {
    Variants variants = peek(key);
    return variants != null && variants.selectedBy(response.selecting()) != null;
  }

  /** How often something changed under that key, for {@link #promote}. */
  public long changes(CacheKey key) {
    return copies == null ? 0 : copies.changes(key);
  }

  /** Whether a response that was found once fell under no purge since, on which a lease is held. */
  public boolean isUnpurged(StoredResponse response) {
    return settlement.isUnpurged(response);
  }

  /** Shows everything that is stored, purged or not. */
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    index.forEach(reader);
  }

  /** What chooses which responses leave memory, and tells why. */
  public MemoryIndex index() {
    return index;
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

  // Figures

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

  /** Tells of the store in {@code registry}. */
  public void register(MetricRegistry registry) {
    registry.gauge(CAPACITY, arena::capacityBytes);
    registry.gauge(USED, arena::usedBytes);
    registry.gauge(RETIRED, arena::retiredBytes);
    registry.gauge(PART, () -> memory().storedBytes(), "stored");
    registry.gauge(PART, () -> memory().indexBytes(), "index");
    registry.gauge(PART, () -> memory().fillingBytes(), "filling");
    registry.gauge(PART, () -> memory().leasedBytes(), "leased");
    registry.counting(REGIONS, arena::regionBytes);
    registry.counting(PURGED, () -> removed.sum() + settlement.removed(), "hard");
    registry.counting(PURGED, settlement::madeStale, "soft");
  }
}
