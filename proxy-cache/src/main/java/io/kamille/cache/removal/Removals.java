package io.kamille.cache.removal;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.removal.PurgeReport.Progress;
import io.kamille.cache.rules.Invalidation;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.cache.tiers.Store;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes responses out of the store, for good, or makes them stale: for operators, other nodes and
 * answers to unsafe requests. Requests that come afterwards do not meet them, nor those that are
 * still on their way. Any thread.
 */
public final class Removals {

  private static final MetricDescriptor PURGES =
      MetricDescriptor.counter(
          "kamille_cache_purges_total",
          "Purges, by what they were about: url, prefix, host, tag, all, or group, which origins"
              + " ask for in answers to unsafe requests.",
          "kind");

  /** How many purges of operators are remembered. */
  public static final int RECENT = 100;

  /** How many dry runs may wait to be counted. */
  static final int COUNTS = 8;

  private final Store store;
  private final InFlightTable flights;
  private final PurgeTable table;
  private final Sweeper sweeper;
  private final RouteQueries queries;
  private final WallClock clock;
  private volatile @Nullable OtherNodes others;
  // Volatile: set at start, read on the loops.
  private volatile Consumer<RequestHead> toldOfInvalid = _ -> {};
  private final Map<Scope, LongAdder> counts = new EnumMap<>(Scope.class);
  private final AtomicInteger counting = new AtomicInteger();

  @GuardedBy("this")
  private final Deque<Entry> recent = new ArrayDeque<>();

  @GuardedBy("this")
  private long lastOwn;

  public Removals(
      Store store,
      InFlightTable flights,
      PurgeTable table,
      Sweeper sweeper,
      RouteQueries queries,
      WallClock clock) {
    this.store = store;
    this.flights = flights;
    this.table = table;
    this.sweeper = sweeper;
    this.queries = queries;
    this.clock = clock;
    for (Scope kind : Scope.values()) {
      counts.put(kind, new LongAdder());
    }
  }

  /** Tells these of what is invalidated, or purged by clients, from now on. */
  public void share(OtherNodes nodes) {
    others = nodes;
  }

  /** Other nodes, if there are any. */
  public @Nullable OtherNodes others() {
    return others;
  }

  /** Purges what is stored under the keys of a URI, and says how many responses that were. */
  public int remove(Set<CacheKey> keys) {
    counted(Scope.URL);
    return keys.stream().mapToInt(this::removeNow).sum();
  }

  /**
   * Purges what has no keys of its own: it holds when this returns, and memory comes free later.
   */
  @CanIgnoreReturnValue
  Purge purgeNow(PurgeTarget target, boolean isSoft) {
    Purge purge = table.purge(target, isSoft, clock.epochSeconds());
    counted(target.kind());
    sweeper.request();
    return purge;
  }

  /**
   * Runs {@code action} when what was removed before this call holds for later processes too, even
   * after a kill; at once where nothing outlives this process. On any thread.
   */
  public void whenKept(Runnable action) {
    store.whenKept(action);
  }

  /** Removes here what another process removes that has the same keys. */
  public RemovalListener follower() {
    return new RemovalListener() {
      @Override
      public void removed(CacheKey key) {
        removeNow(key);
      }

      @Override
      public void purged(PurgeNotes.Note note) {
        purgeNow(note.target(), note.isSoft());
      }

      @Override
      public void cleared() {
        clear();
      }
    };
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    flights.clear();
    return store.clear();
  }

  /**
   * Removes what this response to an unsafe request makes invalid: by its target (RFC 9111 §4.4)
   * and by groups (RFC 9875 §3).
   *
   * @return completes once other nodes will remove it too; null if there is nothing to wait for
   */
  public @Nullable CompletionStage<?> invalidate(RequestHead request, ResponseHead response) {
    OtherNodes nodes = others;
    List<PurgeTarget> targets = new ArrayList<>();
    Invalidation.of(request, response, each -> invalidated(each, targets)).forEach(this::removeNow);
    List<String> groups = Tags.invalidated(response.fields());
    if (!groups.isEmpty() && !request.method().isSafe()) {
      targets.add(PurgeTarget.groups(request, groups));
      purgeNow(targets.getLast(), false);
    }
    return nodes == null || targets.isEmpty() ? null : nodes.purged(targets);
  }

  private Set<CacheKey> invalidated(RequestHead request, List<PurgeTarget> purged) {
    Map<CacheKey, RequestHead> targets = queries.filtered(request);
    for (RequestHead target : targets.values()) {
      toldOfInvalid.accept(target);
      String uri = others == null ? null : NormalUri.of(target);
      PurgeTarget url = uri == null ? null : PurgeTarget.url(uri);
      if (url != null) {
        purged.add(url);
      }
    }
    return targets.keySet();
  }

  /**
   * Tells that one, from any thread, of each target that becomes invalid so, as its route makes it,
   * before it is removed.
   */
  public void tellOfInvalid(Consumer<RequestHead> told) {
    toldOfInvalid = told;
  }

  @CanIgnoreReturnValue
  private int removeNow(CacheKey key) {
    flights.remove(key);
    return store.remove(key);
  }

  @SuppressWarnings("NullAway") // every kind has its counter
  private void counted(Scope kind) {
    counts.get(kind).increment();
  }

  // The purges of operators, and the last of them for looking up

  private record Entry(
      long id, Purge purge, boolean isDryRun, BooleanSupplier isDone, Progress before) {

    PurgeReport report() {
      boolean isOver = isDone.getAsBoolean();
      return new PurgeReport(
          id,
          purge.shown(),
          purge.isSoft(),
          isDryRun,
          purge.epochSeconds(),
          isOver ? Progress.DONE : before,
          purge.affected());
    }
  }

  /**
   * Purges what {@code target} is about: no request that comes afterwards meets it, or meets it
   * fresh.
   *
   * @param isSoft whether it is made stale, not removed
   */
  public PurgeReport purge(PurgeTarget target, boolean isSoft) {
    return purge(0, target, isSoft);
  }

  /**
   * The same.
   *
   * @param number by which other nodes know it; 0 for one of our own, which is negative if there
   *     are other nodes
   */
  public PurgeReport purge(long number, PurgeTarget target, boolean isSoft) {
    Set<CacheKey> keys = keysOf(target);
    if (!keys.isEmpty()) {
      Purge purge = unnumbered(target, isSoft);
      keys.forEach(key -> store.remember(key, purge));
      purge.affected(isSoft ? soften(keys, purge) : remove(keys));
      return noted(number, purge, false, () -> true, Progress.DONE);
    }
    Purge purge = purgeNow(target.orAny(), isSoft);
    return noted(
        number, purge, false, () -> sweeper.sweptUpTo() >= purge.sequence(), Progress.SWEEPING);
  }

  private int soften(Set<CacheKey> keys, Purge purge) {
    counted(Scope.URL);
    return keys.stream().mapToInt(key -> store.soften(key, purge)).sum();
  }

  /**
   * Counts what such a purge would be about, at once or a little later, and changes nothing.
   *
   * @return null if too many counts are under way
   */
  public @Nullable PurgeReport count(PurgeTarget target, boolean isSoft) {
    Purge purge = unnumbered(target, isSoft);
    Set<CacheKey> keys = keysOf(target);
    if (!keys.isEmpty()) {
      purge.affected(count(keys));
      return noted(0, purge, true, () -> true, Progress.DONE);
    }
    if (counting.getAndUpdate(counts -> Math.min(COUNTS, counts + 1)) == COUNTS) {
      return null;
    }
    var counted = new AtomicLong(-1);
    PurgeReport report = noted(0, purge, true, () -> counted.get() >= 0, Progress.COUNTING);
    sweeper.count(
        target.orAny(),
        count -> {
          purge.affected(count);
          counted.set(count);
          counting.decrementAndGet();
        });
    return report;
  }

  /** How many responses are stored under these keys, in memory or on a disk. */
  public int count(Set<CacheKey> keys) {
    return keys.stream().mapToInt(this::count).sum();
  }

  private int count(CacheKey key) {
    Variants variants = store.peek(key);
    return Math.max(variants == null ? 0 : variants.size(), store.copies(key));
  }

  private Purge unnumbered(PurgeTarget target, boolean isSoft) {
    return new Purge(0, target, isSoft, clock.epochSeconds());
  }

  private Set<CacheKey> keysOf(PurgeTarget target) {
    return target.kind() == Scope.URL ? queries.keysOf(target.names().getFirst()) : Set.of();
  }

  private synchronized PurgeReport noted(
      long number, Purge purge, boolean isDryRun, BooleanSupplier isDone, Progress before) {
    if (number == 0) {
      lastOwn += others == null ? 1 : -1;
    }
    Entry entry = new Entry(number == 0 ? lastOwn : number, purge, isDryRun, isDone, before);
    recent.addFirst(entry);
    if (recent.size() > RECENT) {
      recent.removeLast();
    }
    return entry.report();
  }

  /**
   * What a purge removed or made stale, the hottest first, so that it can be fetched again; null if
   * there is no such purge. Empty if it is not remembered any more.
   */
  public synchronized @Nullable List<PurgedUrl> removedBy(long id) {
    for (Entry entry : recent) {
      if (entry.id == id && !entry.isDryRun) {
        return store.purgedUrls().of(entry.purge);
      }
    }
    return null;
  }

  /** The last {@value #RECENT}, the newest first. */
  public synchronized List<PurgeReport> recent() {
    return recent.stream().map(Entry::report).toList();
  }

  /** Tells of purges in {@code registry}. */
  public void register(MetricRegistry registry) {
    counts.forEach((kind, count) -> registry.counting(PURGES, count::sum, kind.token()));
  }
}
