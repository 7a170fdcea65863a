package io.kamille.cache.removal;

import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.TieredStore;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/**
 * Goes through all that is stored after purges, so that memory comes free that nobody asks for any
 * more, and old notes can go. On a thread of its own; never needed for a purge to hold.
 */
public final class Sweeper {

  private final TieredStore store;
  private final PurgeTable table;
  private final Executor executor;
  private final AtomicBoolean isRequested = new AtomicBoolean();
  private volatile long sweptUpTo;

  /** A sweeper that sweeps on {@code executor}, one thing after the other. */
  public Sweeper(TieredStore store, PurgeTable table, Executor executor) {
    this.store = store;
    this.table = table;
    this.executor = executor;
  }

  /** Sweeps soon, once for all who ask until then. Any thread. */
  public void request() {
    if (isRequested.compareAndSet(false, true)) {
      executor.execute(this::sweep);
    }
  }

  /** Up to which purge everything stored was looked at. Any thread. */
  public long sweptUpTo() {
    return sweptUpTo;
  }

  private void sweep() {
    isRequested.set(false);
    long upTo = table.last();
    boolean isCrowded = table.isCrowded();
    if (isCrowded) {
      table.raiseFloor(upTo);
    }
    store.forEach(store::sweep);
    if (isCrowded) {
      table.trim(upTo);
    }
    sweptUpTo = upTo;
  }

  /** Counts soon what a purge would be about, and tells {@code done}. Any thread. */
  void count(PurgeTarget target, LongConsumer done) {
    executor.execute(
        () -> {
          long[] count = {0};
          try {
            store.forEach(
                (key, variants) ->
                    variants.forEach(stored -> count[0] += isAbout(target, stored) ? 1 : 0));
          } finally {
            done.accept(count[0]);
          }
        });
  }

  private static boolean isAbout(PurgeTarget target, StoredResponse response) {
    String uri = target.prefixes().isEmpty() ? null : NormalUri.of(response.uri());
    return target.matches(uri == null ? "" : uri, response.facts().tags());
  }
}
