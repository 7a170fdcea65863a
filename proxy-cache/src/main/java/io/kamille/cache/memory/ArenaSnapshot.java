package io.kamille.cache.memory;

/**
 * The figures of an {@link Arena} at one moment.
 *
 * @param capacityBytes what the arena holds in all
 * @param usedBytes what is taken, in whole granules and with what writers hold in advance
 * @param live how many {@link StoredBytes} there are, stored, being written or only leased
 * @param longestFreeRunBytes the longest free run inside one slab, at most 64 KiB; longer ones are
 *     made of whole slabs
 */
public record ArenaSnapshot(
    long capacityBytes, long usedBytes, long live, long longestFreeRunBytes) {}
