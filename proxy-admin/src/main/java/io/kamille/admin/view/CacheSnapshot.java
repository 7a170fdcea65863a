package io.kamille.admin.view;

/**
 * The cache.
 *
 * @param capacityBytes it may use
 * @param usedBytes it uses now
 * @param objects stored responses
 * @param hits requests answered from it since the start
 * @param misses requests forwarded since the start
 */
public record CacheSnapshot(
    long capacityBytes, long usedBytes, long objects, long hits, long misses) {

  /** The share of requests that were answered from the cache, 0 before the first. */
  public double hitRatio() {
    long all = hits + misses;
    return all == 0 ? 0 : (double) hits / all;
  }
}
