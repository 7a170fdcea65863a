package io.kamille.cache;

import io.kamille.cache.collapse.InFlightTable;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.index.Policy;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.index.PolicySnapshot.Estimate;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.peak.PeakWatch;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Kind;
import io.kamille.cache.removal.OperatorPurges;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.tier.MemorySnapshot;
import io.kamille.cache.tier.TieredStore;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** What an operator sees of the cache and does to it. Any thread. */
public final class CacheOperations {

  public static final MetricDescriptor CAPACITY =
      MetricDescriptor.gauge(
          "kamille_cache_memory_capacity_bytes",
          Unit.BYTES,
          "Memory for stored responses, taken at start and never exceeded.");

  public static final MetricDescriptor USED =
      MetricDescriptor.gauge(
          "kamille_cache_memory_used_bytes",
          Unit.BYTES,
          "Memory taken by responses that are stored, being stored, or forgotten and still sent.");

  public static final MetricDescriptor RETIRED =
      MetricDescriptor.gauge(
          "kamille_cache_memory_retired_bytes",
          Unit.BYTES,
          "Memory lost until a restart, because the kernel did not replace pages that connections"
              + " may still send. Part of the used memory; zero unless something is wrong.");

  public static final MetricDescriptor KEYS =
      MetricDescriptor.gauge(
          "kamille_cache_keys", Unit.COUNT, "Target URIs that something is stored under.");

  public static final MetricDescriptor IN_FLIGHT =
      MetricDescriptor.gauge(
          "kamille_cache_in_flight",
          Unit.COUNT,
          "Forwarded requests that others may wait for at this moment.");

  public static final MetricDescriptor EVICTIONS =
      MetricDescriptor.counter(
          "kamille_cache_evictions_total",
          Unit.COUNT,
          "Target URIs whose stored responses were forgotten to make room.");

  public static final MetricDescriptor FALLBACK_EVICTIONS =
      MetricDescriptor.counter(
          "kamille_cache_fallback_evictions_total",
          Unit.COUNT,
          "Evictions that the cache chose by LRU without Caffeine, whose maintenance had"
              + " failed, was behind, or had made no room when some was needed.");

  public static final MetricDescriptor INDEX_REFUSALS =
      MetricDescriptor.counter(
          "kamille_cache_index_refusals_total",
          Unit.COUNT,
          "Responses that were not stored because the index was behind with its changes.");

  public static final MetricDescriptor REGIONS =
      MetricDescriptor.counter(
          "kamille_cache_region_bytes_total",
          Unit.BYTES,
          "Stored content that went to clients by sendfile, without a copy.");

  public static final MetricDescriptor PURGES =
      MetricDescriptor.counter(
          "kamille_cache_purges_total",
          Unit.COUNT,
          "Purges, by what they were about: url, prefix, host, tag, all, or group, which origins"
              + " ask for in answers to unsafe requests.",
          "kind");

  public static final MetricDescriptor PURGED =
      MetricDescriptor.counter(
          "kamille_cache_purged_responses_total",
          Unit.COUNT,
          "Stored responses that were removed (hard) or made stale (soft), by purges or because an"
              + " unsafe request made them invalid.",
          "mode");

  public static final MetricDescriptor PURGE_NOTES =
      MetricDescriptor.gauge(
          "kamille_cache_purge_notes",
          Unit.COUNT,
          "Tags and prefixes that are remembered as purged.");

  public static final MetricDescriptor PART =
      MetricDescriptor.gauge(
          "kamille_cache_memory_part_bytes",
          Unit.BYTES,
          "Used memory by its use. index: nearly what entries take on the heap. filling: responses"
              + " on their way. leased: no longer stored, but still read or sent.",
          "part");

  public static final MetricDescriptor POLICY =
      MetricDescriptor.gauge(
          "kamille_cache_policy",
          Unit.COUNT,
          "1 for the replacement policy that chooses what is forgotten, 0 for the other.",
          "policy");

  public static final MetricDescriptor POLICY_SWITCHES =
      MetricDescriptor.counter(
          "kamille_cache_policy_switches_total",
          Unit.COUNT,
          "Changes of the replacement policy, by the setting or by what it would have hit.");

  public static final MetricDescriptor OBJECT_HITS =
      MetricDescriptor.gauge(
          "kamille_cache_policy_object_hit_ratio",
          Unit.RATIO,
          "The share of the last sampled cacheable requests that each policy would have hit.",
          "policy");

  public static final MetricDescriptor BYTE_HITS =
      MetricDescriptor.gauge(
          "kamille_cache_policy_byte_hit_ratio",
          Unit.RATIO,
          "The share of octets that each policy would have hit, of the same requests.",
          "policy");

  private final TieredStore store;
  private final InFlightTable flights;
  private final Removals removals;
  private final OperatorPurges purges;
  private final RouteQueries queries;

  CacheOperations(
      TieredStore store,
      InFlightTable flights,
      PurgeTable table,
      Removals removals,
      OperatorPurges purges,
      RouteQueries queries,
      MetricRegistry registry) {
    this.store = store;
    this.flights = flights;
    this.removals = removals;
    this.purges = purges;
    for (Kind kind : Kind.values()) {
      registry.counting(PURGES, () -> removals.count(kind), kind.token());
    }
    registry.counting(PURGED, store.figures()::removed, "hard");
    registry.counting(PURGED, store.figures()::madeStale, "soft");
    registry.gauge(PURGE_NOTES, table::size);
    this.queries = queries;
    registry.gauge(CAPACITY, this::capacityBytes);
    registry.gauge(USED, this::usedBytes);
    registry.gauge(RETIRED, store.figures()::retiredBytes);
    registry.gauge(KEYS, this::keys);
    registry.gauge(IN_FLIGHT, this::inFlight);
    registry.counting(EVICTIONS, store.figures()::evictions);
    registry.counting(FALLBACK_EVICTIONS, store.figures()::fallbackEvictions);
    registry.counting(INDEX_REFUSALS, store.figures()::refusals);
    registry.counting(REGIONS, store.figures()::regionBytes);
    registry.gauge(PART, () -> memory().storedBytes(), "stored");
    registry.gauge(PART, () -> memory().indexBytes(), "index");
    registry.gauge(PART, () -> memory().fillingBytes(), "filling");
    registry.gauge(PART, () -> memory().leasedBytes(), "leased");
    registry.counting(POLICY_SWITCHES, () -> policy().switches());
    for (Policy each : Policy.values()) {
      registry.gauge(POLICY, () -> policy().policy() == each ? 1 : 0, each.token());
      registry.gauge(OBJECT_HITS, () -> estimate(each).objectHitRatio(), each.token());
      registry.gauge(BYTE_HITS, () -> estimate(each).byteHitRatio(), each.token());
    }
  }

  private Estimate estimate(Policy policy) {
    return policy().estimates().get(policy.ordinal());
  }

  /** What the memory tier holds in all. */
  public long capacityBytes() {
    return store.capacityBytes();
  }

  /** What is taken of it: stored, being stored, or forgotten and still read. */
  public long usedBytes() {
    return store.usedBytes();
  }

  /** What the memory is taken by. */
  public MemorySnapshot memory() {
    return store.figures().memory();
  }

  /** How many target URIs were forgotten for want of room, since the start. */
  public long evictions() {
    return store.figures().evictions();
  }

  /** Lets that policy choose what to forget, from now on. */
  public void choose(PolicyChoice choice) {
    store.choose(choice);
  }

  /** When requests leave the disk alone; empty if there is none. */
  public Optional<PeakWatch> peak() {
    return Optional.ofNullable(store.peak());
  }

  /** Which policy chooses what to forget, and why. */
  public PolicySnapshot policy() {
    return store.policy();
  }

  /** Watches for so long what other amounts of memory would hit; 0 ends that. */
  public void watch(long seconds) {
    store.watch(seconds);
  }

  /** What they would have hit; empty if that was never watched. */
  public Optional<Forecast> forecast() {
    return Optional.ofNullable(store.forecast());
  }

  /** How many target URIs something is stored under; an estimate while fills go on. */
  public long keys() {
    return store.size();
  }

  /** How many forwarded requests others may wait for at this moment. */
  public int inFlight() {
    return flights.size();
  }

  /**
   * Removes what is stored for a URI, with the query that its route makes of it, and says how many
   * responses that were; empty if it is no URI that a request can have ({@link CacheKey#find}).
   *
   * @param uri absolute, http or https
   */
  public OptionalInt purge(String uri) {
    CacheKey key = queries.keyOf(uri);
    return key == null ? OptionalInt.empty() : OptionalInt.of(removals.remove(key));
  }

  /**
   * Purges what {@code target} is about: no request that comes afterwards meets it, or meets it
   * fresh.
   *
   * @param isSoft whether it is made stale, not removed
   * @return null if that is not possible before the next sweep
   */
  public @Nullable PurgeReport purge(PurgeTarget target, boolean isSoft) {
    CacheKey key = keyOf(target);
    return key == null ? purges.purge(target, isSoft) : purges.purge(key, target, isSoft);
  }

  /** Counts what such a purge would be about, and changes nothing; null as above. */
  public @Nullable PurgeReport count(PurgeTarget target, boolean isSoft) {
    CacheKey key = keyOf(target);
    return key == null ? purges.count(target, isSoft) : purges.count(key, target, isSoft);
  }

  private @Nullable CacheKey keyOf(PurgeTarget target) {
    return target.kind() == Kind.URL ? queries.keyOf(target.names().getFirst()) : null;
  }

  /**
   * Runs {@code action} when what was purged before this call holds for later processes too, even
   * after a kill; at once where nothing outlives this process. On any thread.
   */
  public void whenKept(Runnable action) {
    store.whenKept(action);
  }

  /** The last purges, the newest first. */
  public List<PurgeReport> purges() {
    return purges.recent();
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    return removals.clear();
  }
}
