package io.kamille.cache.tiers;

import io.kamille.cache.disk.Extent;
import io.kamille.cache.disk.LentRecord;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.peak.TierMode;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
          "Disk reads for requests, by outcome. found: loaded into memory. sent: sent from its"
              + " file. none: the key is not there. full: too many reads waited. All but found and"
              + " sent are misses.",
          "outcome");

  private static final MetricDescriptor LATE =
      MetricDescriptor.counter(
          "kamille_cache_disk_late_total",
          "Requests that went to the origin because the disk took too long.");

  private final Store store;
  private final DiskCopies copies;
  private final Executor readers;
  private final long sendFromBytes;
  private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
  private final LongAdder late = new LongAdder();
  private final ConcurrentHashMap<CacheKey, Search> searches = new ConcurrentHashMap<>();

  /**
   * Reads by these threads.
   *
   * @param sendFromBytes records that long, or longer, stay on the disk and are sent from there, to
   *     clients that take regions; {@link Long#MAX_VALUE} for none
   * @param readers may refuse with {@link RejectedExecutionException}; then the request is not held
   */
  public DiskLookups(
      Store store,
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
    if (store.copies(key) == 0 || !copies.peak().mayRead()) {
      return false;
    }
    Held held = new Held(exchange, key.copy(), home, then);
    if (!search(held)) {
      return false;
    }
    held.begin();
    return true;
  }

  /**
   * Has a request wait for a search that is under way, or for one of its own; false if it cannot.
   */
  private boolean search(Held held) {
    Search running = searches.get(held.key);
    if (running != null && running.join(held)) {
      return true;
    }
    Search own = new Search(held);
    searches.putIfAbsent(held.key, own);
    try {
      readers.execute(own);
      return true;
    } catch (RejectedExecutionException full) {
      own.refuse(held);
      return false;
    }
  }

  private static void release(@Nullable StoredResponse found) {
    if (found != null) {
      found.release();
    }
  }

  /** A request that waits for the disk. Confined to its loop, but for {@link #tell}. */
  private final class Held implements ContentSource {

    private final ReplyHandover client;
    private final Exchange exchange;
    private final CacheKey key;
    private final int home;
    private final BiConsumer<Exchange, @Nullable StoredResponse> then;

    /** From which length on the response may go to that client from its file. */
    private final long sendFrom;

    private @Nullable Future<?> deadline;
    private boolean isDone;

    Held(
        Exchange exchange,
        CacheKey key,
        int home,
        BiConsumer<Exchange, @Nullable StoredResponse> then) {
      boolean takesRegions =
          exchange.request().method() == Method.HEAD || exchange.reply().takesRegions();
      this.client = ReplyHandover.of(exchange.reply());
      this.exchange = exchange.behind(client);
      this.key = key;
      this.home = home;
      this.then = then;
      this.sendFrom = takesRegions ? sendFromBytes : Long.MAX_VALUE;
    }

    /** Begins to wait. */
    void begin() {
      deadline = exchange.loop().schedule(this::expire, LIMIT_NANOS, TimeUnit.NANOSECONDS);
      client.open(this);
    }

    /** That search has ended. Any thread; takes over one lease. */
    void tell(Search search, @Nullable StoredResponse found) {
      try {
        exchange.loop().execute(() -> goOn(search, found));
      } catch (RejectedExecutionException atItsEnd) {
        release(found);
      }
    }

    private void goOn(Search search, @Nullable StoredResponse found) {
      boolean isCurrent = !isDone && store.changes(key) == search.changes;
      boolean isForAnother = isCurrent && search.isThereAnother(found, exchange.request());
      StoredResponse own = isCurrent && !isForAnother ? found : null;
      if (own == null) {
        release(found);
      }
      if (!isDone && !(isForAnother && search(this))) {
        end();
        then.accept(exchange, own);
      }
    }

    private void expire() {
      if (!isDone) {
        end();
        late.increment();
        then.accept(exchange, null);
      }
    }

    private void end() {
      isDone = true;
      if (deadline != null) {
        deadline.cancel(false);
      }
    }

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      end();
    }
  }

  /** A request in the list of those who wait; the last of a list that has ended has none. */
  private record Waiting(@Nullable Held held, @Nullable Waiting next) {}

  private static final Waiting CLOSED = new Waiting(null, null);

  /**
   * One search for what a request selects among the copies of its key, and the requests that wait
   * for it. Run once, by a thread that may wait for the disk; joined from any loop.
   */
  final class Search implements Runnable {

    /*
     * Who waits is a list that only grows, until it is taken whole, and closed, when the search has
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
    private final long sendFrom;
    private final long beginNanos;
    private final AtomicReference<Waiting> waiting;
    private boolean isWithoutMemory;
    private boolean isBroken;
    private boolean isWanted;

    /** What tells the copies apart that the request does not select; complete when it has ended. */
    private final List<SelectingFields> unwanted = new ArrayList<>();

    /** A search that is to be run, for the first that waits. */
    private Search(Held first) {
      this.key = first.key;
      this.request = first.exchange.request().copy();
      this.changes = store.changes(key);
      this.home = first.home;
      this.sendFrom = first.sendFrom;
      this.beginNanos = copies.peak().begin();
      this.waiting = new AtomicReference<>(new Waiting(first, null));
    }

    /** Adds one that waits; false if it has ended. */
    private boolean join(Held held) {
      return waiting.getAndUpdate(list -> list.held == null ? list : new Waiting(held, list)).held
          != null;
    }

    @Override
    public void run() {
      StoredResponse found = null;
      Outcome outcome = Outcome.FAILED;
      long runNanos = copies.peak().run();
      try {
        found = find();
        outcome = outcome(found);
      } finally {
        copies.peak().end(beginNanos, runNanos);
        end(outcome, found, null);
      }
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

    /** It will not be run. Tells all but the one that goes on by itself. */
    private void refuse(Held own) {
      copies.peak().refuse();
      end(Outcome.FULL, null, own);
    }

    /** Tells all that wait but that one. Takes over one lease. */
    @SuppressWarnings("NullAway") // every outcome has its count
    private void end(Outcome outcome, @Nullable StoredResponse found, @Nullable Held untold) {
      searches.remove(key, this);
      outcomes.get(outcome).increment();
      for (Waiting next = waiting.getAndSet(CLOSED); next != null; next = next.next) {
        if (next.held != null && next.held != untold) {
          if (found != null) {
            found.retain();
          }
          next.held.tell(this, found);
        }
      }
      release(found);
    }

    /** Whether a copy that was not wanted, or not looked at, may be what that request selects. */
    private boolean isThereAnother(@Nullable StoredResponse found, RequestHead another) {
      return found == null
          ? unwanted.stream().anyMatch(selecting -> selecting.matches(another))
          : !found.selecting().matches(another);
    }

    /** The response, with a lease that the caller owns; or null. */
    private @Nullable StoredResponse find() {
      for (Extent extent : copies.disk().find(key)) {
        StoredResponse found = fetch(extent);
        if (found != null) {
          return found;
        }
      }
      return null;
    }

    private @Nullable StoredResponse fetch(Extent extent) {
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
      StoredResponse promoted = promotion.from(copies.disk(), extent);
      isWithoutMemory |= promotion.isWithoutMemory();
      isBroken |= promotion.isBroken();
      return promoted;
    }
  }
}
