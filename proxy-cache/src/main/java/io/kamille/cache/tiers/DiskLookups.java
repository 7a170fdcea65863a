package io.kamille.cache.tiers;

import io.kamille.cache.disk.Extent;
import io.kamille.cache.disk.LentRecord;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.peak.TierMode;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds requests for what lies on the disk until it is in memory; those for one key wait for one
 * look at the disk. Any loop; no loop waits.
 */
public final class DiskLookups {

  /*
   * A disk that takes longer than a second is in trouble, and most origins are quicker. The read
   * goes on for those who come later.
   */
  static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * How much of the content is read before a response is sent from its file; the rest is when it is
   * its turn.
   */
  private static final long FETCH_BYTES = 2 << 20;

  /** How a read ended. */
  private enum Outcome {
    /** A response was read, proven and taken into memory. */
    FOUND,
    /** A response was proven, and left where it is, to be sent from its file. */
    SENT,
    /** Nothing there was what the request selects, or it was removed or replaced meanwhile. */
    NONE,
    /** The disk failed, or what it gave was damaged. */
    FAILED,
    /** Too many reads waited: none was begun. */
    FULL,
    /** There was no room in memory. */
    NO_MEMORY;

    String token() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private static final MetricDescriptor READS =
      MetricDescriptor.counter(
          "kamille_cache_disk_reads_total",
          Unit.COUNT,
          "Disk reads for requests, by outcome. found: loaded into memory. sent: sent from its"
              + " file. none: the key is not there. full: too many reads waited. All but found and"
              + " sent are misses.",
          "outcome");

  private static final MetricDescriptor LATE =
      MetricDescriptor.counter(
          "kamille_cache_disk_late_total",
          Unit.COUNT,
          "Requests that went to the origin because the disk took too long.");

  private final TieredStore store;
  private final DiskCopies copies;
  private final Executor readers;
  private final long sendFromBytes;
  private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
  private final LongAdder late = new LongAdder();
  private final ConcurrentHashMap<CacheKey, Look> looks = new ConcurrentHashMap<>();

  /**
   * Reads by these threads.
   *
   * @param sendFromBytes records that long, or longer, stay on the disk and are sent from there, to
   *     clients that take regions; {@link Long#MAX_VALUE} for none
   * @param readers may refuse with {@link RejectedExecutionException}; then the request is not held
   */
  public DiskLookups(
      TieredStore store,
      DiskCopies copies,
      Executor readers,
      long sendFromBytes,
      MetricRegistry registry) {
    this.store = store;
    this.copies = copies;
    this.readers = readers;
    this.sendFromBytes = sendFromBytes;
    for (Outcome outcome : Outcome.values()) {
      LongAdder count = new LongAdder();
      outcomes.put(outcome, count);
      registry.counting(READS, count::sum, outcome.token());
    }
    registry.counting(LATE, late::sum);
  }

  /**
   * Holds a request, if there seems to be something for it on the disk. On the request's loop.
   *
   * @param key borrowed; may be a probe
   * @param home the number of the loop
   * @param then goes on, on the request's loop, with what was read for this request, or one of the
   *     same key, or null; takes over one lease on it
   * @return false, also at a peak ({@link TierMode#PEAK}), if it goes on as if there were no disk;
   *     then nothing was done with it
   */
  public boolean hold(
      Exchange exchange,
      CacheKey key,
      int home,
      BiConsumer<Exchange, @Nullable StoredResponse> then) {
    if (!copies.mayHave(key) || !copies.peak().mayRead()) {
      return false;
    }
    CacheKey own = key.copy();
    HeldRequest held =
        new HeldRequest(exchange, then, late::increment, again -> look(again, exchange, own, home));
    if (!look(held, exchange, own, home)) {
      return false;
    }
    held.begin(LIMIT_NANOS);
    return true;
  }

  /** Has a request wait for a look that is under way, or for one of its own; false if it cannot. */
  private boolean look(HeldRequest held, Exchange exchange, CacheKey key, int home) {
    Look running = looks.get(key);
    return (running != null && running.join(held)) || begin(new Look(key, exchange, home), held);
  }

  /** Begins a look; whoever comes from now on joins it, or the one that was quicker. */
  private boolean begin(Look own, HeldRequest held) {
    boolean isJoined = own.join(held);
    assert isJoined;
    looks.putIfAbsent(own.key, own);
    try {
      readers.execute(own);
      return true;
    } catch (RejectedExecutionException full) {
      own.refuse(held);
      return false;
    }
  }

  /** A request in the list of those who wait; none is in {@link #CLOSED}. */
  private static final class Waiting {

    private final @Nullable HeldRequest held;
    private final @Nullable Waiting next;

    Waiting(@Nullable HeldRequest held, @Nullable Waiting next) {
      this.held = held;
      this.next = next;
    }

    HeldRequest request() {
      return Objects.requireNonNull(held);
    }
  }

  private static final Waiting CLOSED = new Waiting(null, null);

  /**
   * One look for what a request selects among the copies of its key, and the requests that wait for
   * it. Run once, by a thread that may wait for the disk; joined from any loop.
   */
  final class Look implements Runnable {

    /*
     * Who waits is a list that only grows, until it is taken whole, and closed, when the look has
     * ended. Each is given a lease of its own: the response may leave memory before its loop gets
     * to it.
     *
     * The first is the one whose request is looked for. Others may select another copy of the key:
     * they look again, each round for one more of them, until their time is over.
     */
    private final CacheKey key;
    private final RequestHead request;
    private final long changes;
    private final int home;

    /** From which length on the response may go to that client from its file. */
    private final long sendFrom;

    private final long beginNanos;
    private final AtomicReference<@Nullable Waiting> waiting = new AtomicReference<>();
    private boolean isWithoutMemory;
    private boolean isBroken;
    private boolean isWanted;

    /** What tells the copies apart that the request does not select; complete when it has ended. */
    private final List<SelectingFields> unwanted = new ArrayList<>();

    /**
     * A look that is to be run.
     *
     * @param key kept
     * @param exchange the first that waits
     * @param home the number of its loop
     */
    Look(CacheKey key, Exchange exchange, int home) {
      boolean takesRegions =
          exchange.request().method() == Method.HEAD || exchange.reply().takesRegions();
      this.key = key;
      this.request = exchange.request().copy();
      this.changes = store.changes(key);
      this.home = home;
      this.sendFrom = takesRegions ? sendFromBytes : Long.MAX_VALUE;
      this.beginNanos = copies.peak().begin();
    }

    /** Adds one that waits; false if it has ended. */
    boolean join(HeldRequest held) {
      while (true) {
        Waiting before = waiting.get();
        if (before == CLOSED) {
          return false;
        }
        if (waiting.compareAndSet(before, new Waiting(held, before))) {
          return true;
        }
      }
    }

    @Override
    public void run() {
      StoredResponse found = null;
      Outcome outcome = Outcome.FAILED;
      long runNanos = copies.peak().run();
      try {
        found = look();
        outcome = outcome(found);
      } finally {
        copies.peak().end(beginNanos, runNanos);
        ended(outcome);
        tell(found);
      }
    }

    /**
     * Whether nothing was removed or stored under the key since the disk was looked at. Any thread.
     */
    private boolean isCurrent() {
      return store.changes(key) == changes;
    }

    private Outcome outcome(@Nullable StoredResponse found) {
      if (found != null) {
        return found.content().isInFile() ? Outcome.SENT : Outcome.FOUND;
      }
      if (isWithoutMemory) {
        return Outcome.NO_MEMORY;
      }
      return isBroken ? Outcome.FAILED : Outcome.NONE;
    }

    @SuppressWarnings("NullAway") // every outcome has its count
    private void ended(Outcome outcome) {
      looks.remove(key, this);
      outcomes.get(outcome).increment();
    }

    /** It will not be run. Tells all but the one that goes on by itself. */
    void refuse(HeldRequest own) {
      copies.peak().refuse();
      ended(Outcome.FULL);
      for (Waiting next = waiting.getAndSet(CLOSED); next != null; next = next.next) {
        if (next.request() != own) {
          next.request().tell(null, this::isCurrent, _ -> false);
        }
      }
    }

    /** Takes over one lease. */
    private void tell(@Nullable StoredResponse found) {
      for (Waiting next = waiting.getAndSet(CLOSED); next != null; next = next.next) {
        if (found != null) {
          found.retain();
        }
        boolean isFirst = next.next == null;
        next.request()
            .tell(
                found,
                this::isCurrent,
                isFirst ? _ -> false : another -> isThereAnother(found, another));
      }
      if (found != null) {
        found.release();
      }
    }

    /** Whether a copy that was not wanted, or not looked at, may be what that request selects. */
    private boolean isThereAnother(@Nullable StoredResponse found, RequestHead another) {
      return found == null
          ? unwanted.stream().anyMatch(selecting -> selecting.matches(another))
          : !found.selecting().matches(another);
    }

    /** The response, with a lease that the caller owns; or null. */
    private @Nullable StoredResponse look() {
      for (Extent extent : copies.disk().find(key)) {
        StoredResponse found = look(extent);
        if (found != null) {
          return found;
        }
      }
      return null;
    }

    private @Nullable StoredResponse look(Extent extent) {
      if (extent.length() >= sendFrom) {
        return lend(extent);
      }
      StoredResponse promoted = promote(extent);
      return promoted == null && isWithoutMemory && sendFrom != Long.MAX_VALUE
          ? lend(extent)
          : promoted;
    }

    private @Nullable StoredResponse lend(Extent extent) {
      isWanted = false;
      boolean isWhole = request.method() != Method.HEAD && !request.fields().has(FieldName.RANGE);
      LentRecord lent =
          copies.disk().lend(key, extent, this::isWanted, isWhole ? FETCH_BYTES : 0, readers);
      isBroken |= isWanted && lent == null;
      return lent == null
          ? null
          : store.lend(key, lent.head().with(lent.octets()), changes, lent.sequence());
    }

    private boolean isWanted(StoredHead head) {
      isWanted = head.selecting().matches(request);
      if (!isWanted) {
        unwanted.add(head.selecting());
      }
      return isWanted;
    }

    private @Nullable StoredResponse promote(Extent extent) {
      Promotion promotion =
          new Promotion(store, key, changes, home, (head, length) -> isWanted(head));
      try {
        boolean isProven = copies.disk().read(key, extent, promotion);
        isWithoutMemory |= promotion.isWithoutMemory();
        isBroken |= !isProven && promotion.isUnderWay();
        return isProven ? promotion.complete() : null;
      } finally {
        promotion.abandon();
      }
    }
  }
}
