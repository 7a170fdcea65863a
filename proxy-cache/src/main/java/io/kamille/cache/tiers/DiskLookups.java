package io.kamille.cache.tiers;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.tiers.DiskLookupMetrics.Outcome;
import io.kamille.cache.tiers.peak.TierMode;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.Method;
import io.kamille.core.metric.MetricRegistry;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Holds requests for what lies on the disk until it is in memory; those for one key wait for one
 * read. Any loop; no loop waits.
 */
public final class DiskLookups {

  /*
   * A disk that takes longer than a second is in trouble, and most origins are quicker. The read
   * goes on for those who come later.
   */
  static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TieredStore store;
  private final DiskCopies copies;
  private final Executor readers;
  private final long sendFromBytes;
  private final DiskLookupMetrics metrics;
  private final ConcurrentHashMap<CacheKey, DiskLookup> lookups = new ConcurrentHashMap<>();

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
    this.metrics = new DiskLookupMetrics(registry);
  }

  /**
   * Holds a request, if there seems to be something for it on the disk. On the request's loop.
   *
   * @param key borrowed; may be a probe
   * @param home the number of the loop
   * @return false, also at a peak ({@link TierMode#PEAK}), if it goes on as if there were no disk;
   *     then nothing was done with it
   */
  public boolean hold(Exchange exchange, CacheKey key, int home, Onward onward) {
    if (!copies.mayHave(key) || !copies.peak().mayRead()) {
      return false;
    }
    CacheKey own = key.copy();
    HeldRequest held =
        new HeldRequest(exchange, onward, metrics::late, again -> look(again, exchange, own, home));
    if (!look(held, exchange, own, home)) {
      return false;
    }
    held.begin(LIMIT_NANOS);
    return true;
  }

  /** Has a request wait for a look that is under way, or for one of its own; false if it cannot. */
  private boolean look(HeldRequest held, Exchange exchange, CacheKey key, int home) {
    DiskLookup running = lookups.get(key);
    return (running != null && running.join(held))
        || begin(
            new DiskLookup(
                this::ended,
                store,
                copies,
                readers,
                key,
                exchange.request().copy(),
                store.changes(key),
                home,
                sendFromBytes(exchange)),
            held);
  }

  /** From which length on the response may go to that client from its file. */
  private long sendFromBytes(Exchange exchange) {
    boolean takesRegions =
        exchange.request().method() == Method.HEAD || exchange.reply().takesRegions();
    return takesRegions ? sendFromBytes : Long.MAX_VALUE;
  }

  /** Begins a look; whoever comes from now on joins it, or the one that was quicker. */
  private boolean begin(DiskLookup own, HeldRequest held) {
    boolean isJoined = own.join(held);
    assert isJoined;
    lookups.putIfAbsent(own.key(), own);
    try {
      readers.execute(own);
      return true;
    } catch (RejectedExecutionException full) {
      own.refuse(held);
      return false;
    }
  }

  private void ended(DiskLookup lookup, Outcome outcome) {
    lookups.remove(lookup.key(), lookup);
    metrics.ended(outcome);
  }
}
