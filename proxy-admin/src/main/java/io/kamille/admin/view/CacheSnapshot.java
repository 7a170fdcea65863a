package io.kamille.admin.view;

/**
 * The cache.
 *
 * @param capacityBytes it may use
 * @param usedBytes it uses now
 * @param objects stored responses
 * @param hits requests answered from it since the start
 * @param misses requests forwarded since the start
 * @param hitRatio the share of requests that were answered from the cache, 0 before the first
 */
public record CacheSnapshot(
    long capacityBytes, long usedBytes, long objects, long hits, long misses, double hitRatio) {

  /** With the ratio that follows from hits and misses. */
  public CacheSnapshot(long capacityBytes, long usedBytes, long objects, long hits, long misses) {
    this(
        capacityBytes,
        usedBytes,
        objects,
        hits,
        misses,
        hits + misses == 0 ? 0 : (double) hits / (hits + misses));
  }
}
