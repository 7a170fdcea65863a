package io.kamille.cache.disk;

/**
 * A record as the index knows it.
 *
 * @param key the half of the cache key that it is found by
 * @param extent where it lies
 * @param wasAskedFor whether its key was asked for since it was written
 */
record IndexedRecord(long key, Extent extent, boolean wasAskedFor) {}
