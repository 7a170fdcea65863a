package io.kamille.cache.removal;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.Store;
import io.kamille.core.loop.WallClock;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/**
 * Goes through all that is stored after purges, so that memory comes free that nobody asks for any
 * more. On a thread of its own; never needed for a purge to hold.
 */
public final class Sweeper {

  /*
   * However much is stored, the walk takes no more of a processor: some keys at once, which is all
   * of a small cache, and then so many a second. What it saves up while it rests is those few.
   */
  static final int AT_ONCE = 16_384;
  static final int A_SECOND = 2_000;
  private static final long KEY_NANOS = TimeUnit.SECONDS.toNanos(1) / A_SECOND;
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Store store;
  private final PurgeTable table;
  private final WallClock clock;
  private final LongConsumer pause;
  private final Executor sweeps;
  private final Executor counts;
  private final AtomicBoolean isRequested = new AtomicBoolean();
  private volatile long sweptUpTo;

  /** Up to when the keys that were looked at have been paid for, by the thread that sweeps. */
  private long paidNanos;

  /**
   * A sweeper that sweeps on {@code sweeps}, one thing after the other.
   *
   * @param pause waits for so many nanoseconds
   * @param counts where counts are made, one after the other
   */
  public Sweeper(
      Store store,
      PurgeTable table,
      WallClock clock,
      LongConsumer pause,
      Executor sweeps,
      Executor counts) {
    this.store = store;
    this.table = table;
    this.clock = clock;
    this.pause = pause;
    this.sweeps = sweeps;
    this.counts = counts;
    this.paidNanos = clock.nanos() - AT_ONCE * KEY_NANOS;
  }

  /** Sweeps soon, once for all who ask until then. Any thread. */
  public void request() {
    if (isRequested.compareAndSet(false, true)) {
      sweeps.execute(this::sweep);
    }
  }

  /** Up to which purge everything stored was looked at. Any thread. */
  public long sweptUpTo() {
    return sweptUpTo;
  }

  private void sweep() {
    isRequested.set(false);
    long upTo = table.last();
    store.forEach(this::sweep);
    if (!Thread.currentThread().isInterrupted()) {
      sweptUpTo = upTo;
    }
  }

  /** Nothing at the end of the process, which interrupts. */
  private void sweep(CacheKey key, Variants variants) {
    if (!Thread.currentThread().isInterrupted()) {
      pay();
      store.sweep(key, variants);
    }
  }

  private void pay() {
    long now = clock.nanos();
    paidNanos = Math.max(paidNanos - now, -AT_ONCE * KEY_NANOS) + now + KEY_NANOS;
    if (paidNanos - now >= STEP_NANOS) {
      pause.accept(paidNanos - now);
    }
  }

  /** Counts soon what a purge would be about, and tells {@code done}. Any thread. */
  void count(PurgeTarget target, LongConsumer done) {
    counts.execute(
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
