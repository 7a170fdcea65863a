package io.kamille.cache.serve;

import io.kamille.cache.rules.ForwardReason;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.EnumMap;
import java.util.Map;

/** What one loop's cache has done. Confined to its loop; sums are read from the registry. */
public final class CacheCounters {

  public static final MetricDescriptor HITS =
      MetricDescriptor.counter(
          "kamille_cache_hits_total",
          Unit.COUNT,
          "Requests answered from the store without asking the origin, by the state of the"
              + " response: fresh or stale.",
          "state");

  public static final MetricDescriptor FORWARDED =
      MetricDescriptor.counter(
          "kamille_cache_forwarded_total",
          Unit.COUNT,
          "Requests that the store could not answer by itself, by the reason that Cache-Status"
              + " gives (RFC 9211).",
          "fwd");

  public static final MetricDescriptor COLLAPSED =
      MetricDescriptor.counter(
          "kamille_cache_collapsed_total",
          Unit.COUNT,
          "Requests that were held back to share the response of one forwarded before them.");

  public static final MetricDescriptor VALIDATED =
      MetricDescriptor.counter(
          "kamille_cache_validations_total",
          Unit.COUNT,
          "Stored responses the origin was asked about, by its answer: freshened, replaced, or"
              + " failed.",
          "outcome");

  public static final MetricDescriptor FILLS =
      MetricDescriptor.counter(
          "kamille_cache_fills_total",
          Unit.COUNT,
          "Storable responses that began to be stored, by how that ended: stored or abandoned.",
          "outcome");

  public static final MetricDescriptor SHORTAGES =
      MetricDescriptor.counter(
          "kamille_cache_memory_shortages_total",
          Unit.COUNT,
          "Storable responses that were sent without being stored, for want of memory.");

  public static final MetricDescriptor SLOW =
      MetricDescriptor.counter(
          "kamille_cache_slow_readers_total",
          Unit.COUNT,
          "Requests broken off because their clients held up others with whom they shared content"
              + " that could not be stored.");

  private final Counter fresh;
  private final Counter stale;
  private final Counter collapsed;
  private final Counter freshened;
  private final Counter replaced;
  private final Counter failed;
  private final Counter stored;
  private final Counter abandoned;
  private final Counter shortages;
  private final Counter slow;
  private final Map<ForwardReason, Counter> forwarded = new EnumMap<>(ForwardReason.class);

  CacheCounters(MetricRegistry registry) {
    fresh = registry.counter(HITS, "fresh");
    stale = registry.counter(HITS, "stale");
    collapsed = registry.counter(COLLAPSED);
    freshened = registry.counter(VALIDATED, "freshened");
    replaced = registry.counter(VALIDATED, "replaced");
    failed = registry.counter(VALIDATED, "failed");
    stored = registry.counter(FILLS, "stored");
    abandoned = registry.counter(FILLS, "abandoned");
    shortages = registry.counter(SHORTAGES);
    slow = registry.counter(SLOW);
    for (ForwardReason reason : ForwardReason.values()) {
      forwarded.put(reason, registry.counter(FORWARDED, reason.token()));
    }
  }

  /** How many requests came to the store; any thread. */
  long requests() {
    long sum = fresh.value() + stale.value();
    for (Counter each : forwarded.values()) {
      sum += each.value();
    }
    return sum;
  }

  /** A request was answered from the store. */
  public void hit(boolean isFresh) {
    (isFresh ? fresh : stale).increment();
  }

  /** A request was forwarded, or waits for one that was. */
  @SuppressWarnings("NullAway") // every reason has its counter
  public void forwarded(ForwardReason reason) {
    forwarded.get(reason).increment();
  }

  /** A request waits for another one's response. */
  public void collapsed() {
    collapsed.increment();
  }

  /** A 304 made a stored response fresh again. */
  public void freshened() {
    freshened.increment();
  }

  /** A validation brought another response. */
  public void replaced() {
    replaced.increment();
  }

  /** A validation brought an error or nothing. */
  public void validationFailed() {
    failed.increment();
  }

  /** A fill ended. */
  public void filled(boolean isStored) {
    (isStored ? stored : abandoned).increment();
  }

  /** A client was broken off because it held others up. */
  public void brokenOffSlow() {
    slow.increment();
  }

  /** There was no memory for a response. */
  public void shortage() {
    shortages.increment();
  }
}
