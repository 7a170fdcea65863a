package io.kamille.admin.view;

import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.peak.PeakSnapshot;
import org.jspecify.annotations.Nullable;

/**
 * Where stored responses lie.
 *
 * @param memory what the memory is taken by
 * @param keys how many target URIs something is stored under
 * @param evictions how many of them were forgotten for want of room, since the start
 * @param policy what chooses those
 * @param peak whether requests use the disk; null where there is none
 */
public record TiersSnapshot(
    MemorySnapshot memory,
    long keys,
    long evictions,
    PolicySnapshot policy,
    @Nullable PeakSnapshot peak) {}
