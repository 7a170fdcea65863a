package io.kamille.cache.removal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Kind;
import io.kamille.cache.removal.PurgeReport.State;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.core.loop.WallClock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The purges that operators make, and the last of them for looking up. Any thread. */
public final class OperatorPurges {

  /** How many are remembered. */
  public static final int RECENT = 100;

  /** How many dry runs may wait to be counted. */
  static final int COUNTS = 8;

  private final Removals removals;
  private final Sweeper sweeper;
  private final RouteQueries queries;
  private final WallClock clock;
  private final AtomicInteger counting = new AtomicInteger();

  @GuardedBy("this")
  private final Deque<Entry> recent = new ArrayDeque<>();

  @GuardedBy("this")
  private long lastOwn;

  public OperatorPurges(Removals removals, Sweeper sweeper, RouteQueries queries, WallClock clock) {
    this.removals = removals;
    this.sweeper = sweeper;
    this.queries = queries;
    this.clock = clock;
  }

  private record Entry(
      long id, Purge purge, boolean isDryRun, BooleanSupplier isDone, State before) {

    PurgeReport report() {
      boolean isOver = isDone.getAsBoolean();
      return new PurgeReport(
          id,
          purge.shown(),
          purge.isSoft(),
          isDryRun,
          purge.epochSeconds(),
          isOver ? State.DONE : before,
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
      keys.forEach(key -> removals.remember(key, purge));
      purge.affected(isSoft ? removals.soften(keys, purge) : removals.remove(keys));
      return noted(number, purge, false, () -> true, State.DONE);
    }
    Purge purge = removals.purge(target.orAny(), isSoft);
    return noted(
        number, purge, false, () -> sweeper.sweptUpTo() >= purge.sequence(), State.SWEEPING);
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
      purge.affected(removals.count(keys));
      return noted(0, purge, true, () -> true, State.DONE);
    }
    if (counting.getAndUpdate(counts -> Math.min(COUNTS, counts + 1)) == COUNTS) {
      return null;
    }
    var counted = new AtomicLong(-1);
    PurgeReport report = noted(0, purge, true, () -> counted.get() >= 0, State.COUNTING);
    sweeper.count(
        target.orAny(),
        count -> {
          purge.affected(count);
          counted.set(count);
          counting.decrementAndGet();
        });
    return report;
  }

  private Purge unnumbered(PurgeTarget target, boolean isSoft) {
    return new Purge(0, target, isSoft, clock.epochSeconds());
  }

  private Set<CacheKey> keysOf(PurgeTarget target) {
    return target.kind() == Kind.URL ? queries.keysOf(target.names().getFirst()) : Set.of();
  }

  private synchronized PurgeReport noted(
      long number, Purge purge, boolean isDryRun, BooleanSupplier isDone, State before) {
    if (number == 0) {
      lastOwn += removals.others() == null ? 1 : -1;
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
        return removals.purgedUrls(entry.purge);
      }
    }
    return null;
  }

  /** The last {@value #RECENT}, the newest first. */
  public synchronized List<PurgeReport> recent() {
    return recent.stream().map(Entry::report).toList();
  }
}
