package io.kamille.cache.index;

import io.kamille.cache.index.PolicySnapshot.Estimate;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;

/** What an index tells of itself. */
public final class IndexMetrics {

  private static final MetricDescriptor KEYS =
      MetricDescriptor.gauge(
          "kamille_cache_keys", Unit.COUNT, "Target URIs that something is stored under.");

  private static final MetricDescriptor EVICTIONS =
      MetricDescriptor.counter(
          "kamille_cache_evictions_total",
          Unit.COUNT,
          "Target URIs whose stored responses were forgotten to make room.");

  private static final MetricDescriptor FALLBACK_EVICTIONS =
      MetricDescriptor.counter(
          "kamille_cache_fallback_evictions_total",
          Unit.COUNT,
          "Evictions that the cache chose without Caffeine, whose maintenance had"
              + " failed, was behind, or had made no room when some was needed.");

  private static final MetricDescriptor INDEX_FAILURES =
      MetricDescriptor.counter(
          "kamille_cache_index_failures_total",
          Unit.COUNT,
          "How often the upkeep of the index failed. It goes on; the log has the first cause.");

  private static final MetricDescriptor INDEX_REFUSALS =
      MetricDescriptor.counter(
          "kamille_cache_index_refusals_total",
          Unit.COUNT,
          "Responses that were not stored because the index was behind with its changes.");

  private static final MetricDescriptor POLICY =
      MetricDescriptor.gauge(
          "kamille_cache_policy",
          Unit.COUNT,
          "1 for the replacement policy that chooses what is forgotten, 0 for the other.",
          "policy");

  private static final MetricDescriptor POLICY_SWITCHES =
      MetricDescriptor.counter(
          "kamille_cache_policy_switches_total",
          Unit.COUNT,
          "Changes of the replacement policy, by the setting or by what it would have hit.");

  private static final MetricDescriptor OBJECT_HITS =
      MetricDescriptor.gauge(
          "kamille_cache_policy_object_hit_ratio",
          Unit.RATIO,
          "The share of the last sampled cacheable requests that each policy would have hit.",
          "policy");

  private static final MetricDescriptor BYTE_HITS =
      MetricDescriptor.gauge(
          "kamille_cache_policy_byte_hit_ratio",
          Unit.RATIO,
          "The share of octets that each policy would have hit, of the same requests.",
          "policy");

  private IndexMetrics() {}

  /** Tells of that index in {@code registry}. */
  public static void register(CaffeineIndex index, MetricRegistry registry) {
    registry.gauge(KEYS, index::size);
    registry.counting(EVICTIONS, index::evictions);
    registry.counting(FALLBACK_EVICTIONS, index::fallbackEvictions);
    registry.counting(INDEX_FAILURES, index::failures);
    registry.counting(INDEX_REFUSALS, index::refusals);
    registry.counting(POLICY_SWITCHES, () -> index.policy().switches());
    for (Policy each : Policy.values()) {
      registry.gauge(POLICY, () -> index.policy().policy() == each ? 1 : 0, each.token());
      registry.gauge(OBJECT_HITS, () -> estimate(index, each).objectHitRatio(), each.token());
      registry.gauge(BYTE_HITS, () -> estimate(index, each).byteHitRatio(), each.token());
    }
  }

  private static Estimate estimate(CaffeineIndex index, Policy policy) {
    return index.policy().estimates().get(policy.ordinal());
  }
}
