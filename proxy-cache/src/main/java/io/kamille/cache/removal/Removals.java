package io.kamille.cache.removal;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Kind;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.rules.Invalidation;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.cache.tiers.Store;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes responses out of the store, for good: requests that come afterwards do not meet them, nor
 * those that are still on their way. Any thread.
 */
public final class Removals {

  private static final MetricDescriptor PURGES =
      MetricDescriptor.counter(
          "kamille_cache_purges_total",
          Unit.COUNT,
          "Purges, by what they were about: url, prefix, host, tag, all, or group, which origins"
              + " ask for in answers to unsafe requests.",
          "kind");

  private final Store store;
  private final InFlightTable flights;
  private final PurgeTable table;
  private final Sweeper sweeper;
  private final RouteQueries queries;
  private final WallClock clock;
  private volatile @Nullable OtherNodes others;
  // Volatile: set at start, read on the loops.
  private volatile Consumer<RequestHead> toldOfInvalid = _ -> {};
  private final Map<Kind, LongAdder> counts = new EnumMap<>(Kind.class);

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
    for (Kind kind : Kind.values()) {
      counts.put(kind, new LongAdder());
    }
  }

  /** Tells these of what is invalidated from now on. */
  public void share(OtherNodes nodes) {
    others = nodes;
  }

  /** Other nodes, if there are any. */
  public @Nullable OtherNodes others() {
    return others;
  }

  /** Purges what is stored under the keys of a URI, and says how many responses that were. */
  public int remove(Set<CacheKey> keys) {
    counted(Kind.URL);
    return keys.stream().mapToInt(this::removeNow).sum();
  }

  /** Makes what is stored under the keys of a URI stale, and says how many responses that were. */
  int soften(Set<CacheKey> keys, Purge purge) {
    counted(Kind.URL);
    return keys.stream().mapToInt(key -> store.soften(key, purge)).sum();
  }

  /** Remembers what a purge is about to remove, so that it can be fetched again. Not on a loop. */
  void remember(CacheKey key, Purge purge) {
    store.remember(key, purge);
  }

  /** What a purge has removed, the hottest first; empty if that is not remembered. */
  List<PurgedUrl> purgedUrls(Purge purge) {
    return store.purgedUrls().of(purge);
  }

  /** How many responses are stored under these keys, in memory or on a disk. */
  public int count(Set<CacheKey> keys) {
    return keys.stream().mapToInt(this::count).sum();
  }

  private int count(CacheKey key) {
    Variants variants = store.peek(key);
    return Math.max(variants == null ? 0 : variants.size(), store.copies(key));
  }

  /**
   * Purges whatever {@code target} is about: it holds when this returns, and memory comes free
   * later.
   */
  @CanIgnoreReturnValue
  Purge purge(PurgeTarget target, boolean isSoft) {
    Purge purge = table.purge(target, isSoft, clock.epochSeconds());
    counted(target.kind());
    sweeper.request();
    return purge;
  }

  /** Runs {@code action} when what was removed before this call holds for later processes too. */
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
        purge(note.target(), note.isSoft());
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
      purge(targets.getLast(), false);
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
  private void counted(Kind kind) {
    counts.get(kind).increment();
  }

  /** Tells of purges in {@code registry}. */
  public void register(MetricRegistry registry) {
    counts.forEach((kind, count) -> registry.counting(PURGES, count::sum, kind.token()));
  }
}
