package io.kamille.cache.serve;

import io.kamille.cache.rules.ForwardReason;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.util.EnumMap;
import java.util.Map;

/** What one loop's cache has done. Confined to its loop; sums are read from the registry. */
public final class CacheCounters {

  private static final MetricDescriptor HITS =
      MetricDescriptor.counter(
          "kamille_cache_hits_total",
          "Requests answered from the store without asking the origin, by the state of the"
              + " response: fresh or stale.",
          "state");

  private static final MetricDescriptor FORWARDED =
      MetricDescriptor.counter(
          "kamille_cache_forwarded_total",
          "Requests that the store could not answer by itself, by the reason that Cache-Status"
              + " gives (RFC 9211).",
          "fwd");

  private static final MetricDescriptor COLLAPSED =
      MetricDescriptor.counter(
          "kamille_cache_collapsed_total",
          "Requests that were held back to share the response of one forwarded before them.");

  private static final MetricDescriptor VALIDATED =
      MetricDescriptor.counter(
          "kamille_cache_validations_total",
          "Stored responses the origin was asked about, by its answer: freshened, replaced, or"
              + " failed.",
          "outcome");

  private static final MetricDescriptor FILLS =
      MetricDescriptor.counter(
          "kamille_cache_fills_total",
          "Storable responses that began to be stored, by how that ended: stored or abandoned.",
          "outcome");

  private static final MetricDescriptor SHORTAGES =
      MetricDescriptor.counter(
          "kamille_cache_memory_shortages_total",
          "Storable responses that were sent without being stored, for want of memory.");

  private static final MetricDescriptor SLOW =
      MetricDescriptor.counter(
          "kamille_cache_slow_readers_total",
          "Requests broken off because their clients held up others with whom they shared content"
              + " that could not be stored.");

  /** What is counted, but for the reasons of what is forwarded. */
  @SuppressWarnings("ImmutableEnumChecker") // nobody changes descriptors and labels
  public enum Event {
    FRESH_HIT(HITS, "fresh"),
    STALE_HIT(HITS, "stale"),
    /** A request waits for another one's response. */
    COLLAPSED(CacheCounters.COLLAPSED),
    /** A 304 made a stored response fresh again. */
    FRESHENED(VALIDATED, "freshened"),
    /** A validation brought another response. */
    REPLACED(VALIDATED, "replaced"),
    /** A validation brought an error or nothing. */
    VALIDATION_FAILED(VALIDATED, "failed"),
    FILL_STORED(FILLS, "stored"),
    FILL_ABANDONED(FILLS, "abandoned"),
    /** There was no memory for a response. */
    SHORTAGE(SHORTAGES),
    /** A client was broken off because it held others up. */
    BROKEN_OFF_SLOW(SLOW);

    private final MetricDescriptor descriptor;
    private final String[] labels;

    Event(MetricDescriptor descriptor, String... labels) {
      this.descriptor = descriptor;
      this.labels = labels;
    }
  }

  private final Map<Event, Counter> events = new EnumMap<>(Event.class);
  private final Map<ForwardReason, Counter> forwarded = new EnumMap<>(ForwardReason.class);

  CacheCounters(MetricRegistry registry) {
    for (Event event : Event.values()) {
      events.put(event, registry.counter(event.descriptor, event.labels));
    }
    for (ForwardReason reason : ForwardReason.values()) {
      forwarded.put(reason, registry.counter(FORWARDED, reason.token()));
    }
  }

  /** How many requests came to the store; any thread. */
  @SuppressWarnings("NullAway") // every event has its counter
  long requests() {
    long sum = events.get(Event.FRESH_HIT).value() + events.get(Event.STALE_HIT).value();
    for (Counter each : forwarded.values()) {
      sum += each.value();
    }
    return sum;
  }

  @SuppressWarnings("NullAway") // every event has its counter
  public void count(Event event) {
    events.get(event).increment();
  }

  /** A request was forwarded, or waits for one that was. */
  @SuppressWarnings("NullAway") // every reason has its counter
  public void forwarded(ForwardReason reason) {
    forwarded.get(reason).increment();
  }
}
