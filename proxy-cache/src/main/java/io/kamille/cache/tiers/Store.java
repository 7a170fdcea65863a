package io.kamille.cache.tiers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
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
import io.kamille.core.metric.MetricRegistry;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The stored responses of all routes: an index, the arena their octets lie in, and copies on a
 * disk, if there is one. Any thread.
 */
public final class Store {

  private static final MetricDescriptor CAPACITY =
      MetricDescriptor.gauge(
          "kamille_cache_memory_capacity_bytes",
          "Memory for stored responses, taken at start and never exceeded.");

  public static final MetricDescriptor USED =
      MetricDescriptor.gauge(
          "kamille_cache_memory_used_bytes",
          "Memory taken by responses that are stored, being stored, or forgotten and still sent.");

  private static final MetricDescriptor RETIRED =
      MetricDescriptor.gauge(
          "kamille_cache_memory_retired_bytes",
          "Memory lost until a restart, because the kernel did not replace pages that connections"
              + " may still send. Part of the used memory; zero unless something is wrong.");

  private static final MetricDescriptor PART =
      MetricDescriptor.gauge(
          "kamille_cache_memory_part_bytes",
          "Used memory by its use. index: nearly what entries take on the heap. filling: responses"
              + " on their way. leased: no longer stored, but still read or sent.",
          "part");

  private static final MetricDescriptor REGIONS =
      MetricDescriptor.counter(
          "kamille_cache_region_bytes_total",
          "Stored content that went to clients by sendfile, without a copy.");

  private static final MetricDescriptor PURGED =
      MetricDescriptor.counter(
          "kamille_cache_purged_responses_total",
          "Stored responses that were removed (hard) or made stale (soft), by purges or because an"
              + " unsafe request made them invalid.",
          "mode");

  /*
   * A response that was on its way when its key was purged or invalidated must not be stored
   * afterwards: it may be older than the reason for the purge. So removals are counted, per stripe
   * of keys (KeyChanges); a fill remembers the count from before its request was forwarded, and is
   * put only if nothing was removed since. After the put it looks again, because a removal counts
   * first and removes then: whichever comes second sees the other.
   *
   * Purges by tag and prefix are numbers in a table of their own. What is found is compared with
   * those that came since it was last looked at; what fell under one leaves the index, or is put
   * back as stale. A response that is put late is older than they are, and meets the same fate.
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
  private final KeyChanges changes = new KeyChanges();
  private final PurgedUrls purgedUrls = new PurgedUrls();
  private final LongAdder removed = new LongAdder();
  private final LongAdder madeStale = new LongAdder();

  // Volatile: set by whoever hands over, read by all.
  private volatile @Nullable RemovalListener heir;
  // Volatile: set by whoever takes over, read by all.
  private volatile @Nullable RemovalListener elder;

  /**
   * A store over an arena that stays the caller's to close, when everything is released.
   *
   * @param copies on a disk, if there is one
   */
  public Store(Arena arena, MemoryIndex index, PurgeTable purges, @Nullable DiskCopies copies) {
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
  public record Moment(int removals, long purge) {

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

  // What is found

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
      settle(key, found, false);
      found = index.peek(key);
    }
    return found;
  }

  /** Whether that content is what is to be found under a key, whatever its head. */
  public boolean holds(CacheKey key, StoredResponse response) {
    Variants variants = peek(key);
    return variants != null && variants.sameContent(response) != null;
  }

  /** The response that is told apart by the same fields as that one; or null. */
  private static @Nullable StoredResponse twin(
      @Nullable Variants variants, StoredResponse response) {
    return variants == null ? null : variants.selectedBy(response.selecting());
  }

  /** Shows everything that is stored, purged or not. */
  public void forEach(BiConsumer<CacheKey, Variants> reader) {
    index.forEach(reader);
  }

  // What is put in

  /** What {@link #put} wants to know: asked before the request is forwarded. */
  public Moment moment(CacheKey key) {
    return new Moment(changes.removals(key), purges.last());
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

  /**
   * Makes room for a response, at any price or, under a key, for one that {@link #pays}. When more
   * comes of that than was said, it has to pay too.
   *
   * @param key kept until the reservation ends
   * @param lengthBytes octets to come, or, when that is unknown, those there are at least
   * @param home the number of the caller's loop
   * @return null if there is not enough memory for it, whatever leaves
   */
  public @Nullable Reservation reserve(@Nullable CacheKey key, long lengthBytes, int home) {
    return Reservation.open(arena, index, lengthBytes, home, key);
  }

  /** Makes a response of the octets of a reservation that is complete. */
  @FunctionalInterface
  public interface Completion {

    /** Takes over one lease. */
    StoredResponse of(StoredOctets octets);
  }

  /**
   * Ends a fill. Its response is visible to the next request unless it was purged or invalidated
   * since the fill began. A stored response that gets a new head (RFC 9111 §4.3.4) is not stored
   * anew if what it was before was purged meanwhile, by its old tags too.
   *
   * @param before what {@link #moment} said
   * @param asked the response that the origin was asked about and that gets a new head, on which
   *     the caller holds a lease; null for another response
   * @return the response with a lease that the caller owns
   */
  public StoredResponse put(
      CacheKey key,
      Reservation reservation,
      Moment before,
      @Nullable StoredResponse asked,
      Completion completion) {
    StoredResponse response = completion.of(reservation.finish());
    try {
      response.unpurged(0, before.purge());
      if (isStillGood(key, before) && !isPurged(response) && !fellUnderAPurge(asked, before)) {
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

  /** Whether what was forwarded then may be stored now, as far as its key tells. */
  private boolean isStillGood(CacheKey key, Moment before) {
    return changes.removals(key) == before.removals();
  }

  /** A response takes the place of the one with the same selecting fields. Borrows it. */
  private void put(CacheKey key, StoredResponse response, Moment before) {
    changes.begin(key);
    try {
      putInMemory(key, response);
      if (copies != null) {
        copies.replace(key, response);
      }
    } finally {
      changes.end(key);
    }
    if (copies != null) {
      copies.stored(key, response, index, changes);
      RemovalListener told = heir;
      if (told != null && copies.disk().mayHaveHad(key)) {
        told.removed(key);
      }
    }
    if (!isStillGood(key, before)) {
      remove(key);
    }
  }

  /** What cannot be stored is newer than what has its place: that must not be found any more. */
  private void putInMemory(CacheKey key, StoredResponse response) {
    response.retain();
    boolean isPut = false;
    try {
      isPut = index.put(key, response, () -> true);
    } finally {
      if (!isPut) {
        response.forget();
      }
    }
    StoredResponse older = isPut ? null : twin(index.peek(key), response);
    if (older != null) {
      index.replace(key.copy(), older, null);
    }
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

  // What is removed

  /** Removes what is stored under that key, and says how many responses that were. */
  public int remove(CacheKey key) {
    int count =
        removing(
            key,
            () -> {
              int inMemory = index.remove(key);
              return copies == null ? inMemory : Math.max(inMemory, copies.remove(key));
            });
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
    boolean isReplaced =
        same == null
            ? twin(variants, unsuitable) != null
            : same.facts().isReusable(nowEpochSeconds);
    if (isReplaced) {
      return;
    }
    removed.add(
        removing(
            key,
            () -> {
              boolean isRemoved = same != null && index.replace(key.copy(), same, null);
              if (copies != null) {
                copies.replace(key, unsuitable);
              }
              return isRemoved ? 1 : 0;
            }));
  }

  /**
   * Makes what is stored under that key stale, and says how many responses that were; copies on a
   * disk are removed. What is on its way is not stored.
   */
  public int soften(CacheKey key, Purge purge) {
    return removing(
        key,
        () -> {
          AtomicInteger count = new AtomicInteger();
          Variants variants = peek(key);
          if (variants != null) {
            variants.forEach(
                response -> {
                  response.unclaimCopy();
                  boolean isDone = apply(purge, key, response, response.unpurgedUpTo());
                  count.addAndGet(isDone ? 1 : 0);
                });
          }
          if (copies != null) {
            copies.remove(key);
          }
          return count.get();
        });
  }

  /** Removes under that key, in memory and on the disk; says what that says. */
  private int removing(CacheKey key, IntSupplier removal) {
    changes.beginRemoval(key);
    int count;
    try {
      count = removal.getAsInt();
    } finally {
      changes.end(key);
    }
    tell(told -> told.removed(key));
    return count;
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    changes.beginRemovalOfAll();
    int count;
    try {
      count = index.clear();
      if (copies != null) {
        copies.disk().clear();
      }
    } finally {
      changes.endAll();
    }
    tell(RemovalListener::cleared);
    removed.add(count);
    return count;
  }

  /** Forgets everything in memory; copies stay. Comes last. */
  public void close() {
    index.clear();
  }

  private void tell(Consumer<RemovalListener> what) {
    RemovalListener next = heir;
    if (next != null) {
      what.accept(next);
    }
    RemovalListener before = elder;
    if (before != null) {
      what.accept(before);
    }
  }

  /** Tells that one, or nobody, of removals. */
  public void tell(@Nullable RemovalListener next) {
    heir = next;
  }

  /** Tells that one, too, of what is removed, but not of what is replaced; null for nobody. */
  public void tellElder(@Nullable RemovalListener next) {
    elder = next;
  }

  /** Whether that one, too, is told. */
  public boolean tellsElder() {
    return elder != null;
  }

  // What purges remove

  /**
   * Compares what is under a key with the purges that came since it was last looked at. Brings the
   * index up to date if it removes much, so not on a loop.
   */
  public void sweep(CacheKey key, Variants variants) {
    if (settle(key, variants, true)) {
      index.keepUp();
    }
  }

  /** What the last purges removed, of which the sweep and {@link #remember} know. */
  public PurgedUrls purgedUrls() {
    return purgedUrls;
  }

  /** Remembers what is stored under a key that a purge is about to remove. Not on a loop. */
  public void remember(CacheKey key, Purge purge) {
    Variants variants = peek(key);
    if (variants != null) {
      variants.forEach(response -> purgedUrls.add(purge, response));
    }
  }

  /**
   * Compares what is under a key with the purges that came since it was last looked at.
   *
   * @param isSweep whether what is removed is remembered
   * @return whether any of it was removed or made stale
   */
  @CanIgnoreReturnValue
  private boolean settle(CacheKey key, Variants variants, boolean isSweep) {
    boolean isChanged = false;
    long upTo = purges.last();
    for (int i = 0; i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      long since = response.unpurgedUpTo();
      if (since < upTo && response.tryRetain()) {
        Purge purge = purgeOf(response, since);
        if (purge == null) {
          response.unpurged(since, upTo);
        } else if (apply(purge, key, response, upTo)) {
          purge.affected(1);
          if (isSweep) {
            purgedUrls.add(purge, response);
          }
          isChanged = true;
        }
        response.release();
      }
    }
    return isChanged;
  }

  /** The purge that a response, on which the caller holds a lease, fell under since then. */
  private @Nullable Purge purgeOf(StoredResponse response, long since) {
    return since < purges.last()
        ? purges.find(since, response.facts().tags(), () -> NormalUri.of(response.uri()))
        : null;
  }

  /** Whether a response that was found once fell under no purge since, on which a lease is held. */
  public boolean isUnpurged(StoredResponse response) {
    return purgeOf(response, response.unpurgedUpTo()) == null;
  }

  /** Whether a response is not worth storing, because the next look would remove it. */
  private boolean isPurged(StoredResponse response) {
    Purge purge = purgeOf(response, response.unpurgedUpTo());
    return purge != null && !purge.isSoft();
  }

  private boolean fellUnderAPurge(@Nullable StoredResponse asked, Moment before) {
    return asked != null && purgeOf(asked, Math.min(before.purge(), asked.unpurgedUpTo())) != null;
  }

  /** Does what a purge asks for with a response on which the caller holds a lease. */
  private boolean apply(Purge purge, CacheKey key, StoredResponse response, long upTo) {
    StoredResponse stale = null;
    if (purge.isSoft()) {
      response.retain();
      stale = stale(response, purge, upTo);
      if (stale == response) {
        response.release();
        return false;
      }
    }
    boolean isReplaced = index.replace(key.copy(), response, stale);
    if (isReplaced) {
      (stale == null ? removed : madeStale).increment();
    } else if (stale != null) {
      stale.forget();
    }
    return isReplaced;
  }

  /** That response as a soft purge leaves it, which may be as it is. Takes over one lease. */
  private static StoredResponse stale(StoredResponse response, Purge purge, long upTo) {
    if (!response.facts().isFresh(purge.epochSeconds())) {
      response.unpurged(response.unpurgedUpTo(), upTo);
      return response;
    }
    StoredResponse stale = response.staleSince(purge.epochSeconds());
    stale.unpurged(0, upTo);
    return stale;
  }

  // Copies on a disk

  /** A stored response was sent from memory. Borrows both; the caller holds a lease. */
  public void asked(CacheKey key, StoredResponse response, long nowEpochSeconds) {
    if (copies != null) {
      copies.asked(key, response, index, changes, nowEpochSeconds);
    }
  }

  /**
   * Has a stored response written to the disk, if that has not been seen to. Borrows both; the
   * caller holds a lease.
   *
   * @return false if it should be tried again: too much waits to be written
   */
  public boolean copy(CacheKey key, StoredResponse response) {
    return copies == null || copies.copy(key, response, index, changes);
  }

  /** How many copies there seem to be under that key. */
  public int copies(CacheKey key) {
    return copies == null ? 0 : copies.disk().count(key);
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
      copies.disk().whenWritten(action);
    }
  }

  /** What changed under that key so far, for {@link #promote} and {@link #lend}. */
  public long changes(CacheKey key) {
    return changes.of(key);
  }

  /**
   * Makes a response visible that was read from the disk, unless it was removed or replaced
   * meanwhile.
   *
   * @param key kept
   * @param before what {@link #changes} said before the disk was asked
   * @param unpurgedUpTo the purge up to which it was known not to be purged
   * @return the response with a lease that the caller owns; null if it must not be used
   */
  public @Nullable StoredResponse promote(
      CacheKey key,
      Reservation reservation,
      long before,
      long unpurgedUpTo,
      Completion completion) {
    StoredResponse response = completion.of(reservation.finish());
    boolean isUsable = isUsable(key, response, before, unpurgedUpTo);
    response.retain();
    if (isUsable && index.put(key, response, () -> changes.of(key) == before)) {
      return response;
    }
    response.release();
    response.release();
    return null;
  }

  /** Whether a response from the disk is what is to be found under a key now. */
  private boolean isUsable(CacheKey key, StoredResponse response, long before, long unpurgedUpTo) {
    response.unpurged(0, unpurgedUpTo);
    response.claimCopy();
    return !KeyChanges.isUnderWay(before)
        && !isPurged(response)
        && twin(peek(key), response) == null
        && changes.of(key) == before;
  }

  /**
   * A response that stays on the disk, for the requests that wait for it: nobody else finds it.
   * Takes over one lease on it.
   *
   * @param before what {@link #changes} said before the disk was asked
   * @param unpurgedUpTo the purge up to which it was known not to be purged
   * @return it, with a lease that the caller owns; null if it must not be used
   */
  public @Nullable StoredResponse lend(
      CacheKey key, StoredResponse response, long before, long unpurgedUpTo) {
    long upTo = purges.last();
    boolean isUsable = isUsable(key, response, before, unpurgedUpTo);
    Purge purge = purgeOf(response, unpurgedUpTo);
    if (!isUsable || (purge != null && !purge.isSoft())) {
      response.release();
      return null;
    }
    return purge == null ? response : stale(response, purge, upTo);
  }

  /** What chooses which responses leave memory, and tells why. */
  public MemoryIndex index() {
    return index;
  }

  // Figures

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
        arena.capacityBytes(),
        stored,
        indexed,
        filling,
        leased,
        renewing,
        retired,
        arena.pageBytes());
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
    registry.counting(PURGED, removed::sum, "hard");
    registry.counting(PURGED, madeStale::sum, "soft");
  }
}
