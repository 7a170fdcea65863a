package io.kamille.cache.tier;

import io.kamille.cache.index.ResponseIndex;
import io.kamille.cache.memory.Arena;
import java.util.concurrent.atomic.LongAdder;

/** What metrics and operators are told of the store. Any thread. */
public final class StoreFigures {

  private final Arena arena;
  private final ResponseIndex index;
  private final PurgeSettlement settlement;
  private final LongAdder removed;

  /**
   * Figures of a store.
   *
   * @param removed counts the responses that were removed by their key
   */
  StoreFigures(Arena arena, ResponseIndex index, PurgeSettlement settlement, LongAdder removed) {
    this.arena = arena;
    this.index = index;
    this.settlement = settlement;
    this.removed = removed;
  }

  /** What the memory is taken by. */
  public MemorySnapshot memory() {
    long used = arena.usedBytes();
    long indexed = arena.chargedBytes();
    long stored = index.weightBytes() - index.heapBytes();
    long filling = arena.writingBytes();
    long renewing = arena.renewingBytes();
    long retired = arena.retiredBytes();
    long leased = Math.max(0, used - indexed - stored - filling - renewing - retired);
    return new MemorySnapshot(
        arena.capacityBytes(), stored, indexed, filling, leased, renewing, retired);
  }

  /** What of it never comes free: see {@link Arena#retiredBytes}. */
  public long retiredBytes() {
    return arena.retiredBytes();
  }

  /** What of it was sent without a copy: see {@link Arena#regionBytes}. */
  public long regionBytes() {
    return arena.regionBytes();
  }

  /** How many keys were evicted for want of room since the start. */
  public long evictions() {
    return index.evictions();
  }

  /** How many of them by LRU because the policy had made no room. */
  public long fallbackEvictions() {
    return index.fallbackEvictions();
  }

  /** How many responses were not stored because the index was behind. */
  public long refusals() {
    return index.refusals();
  }

  /** How many responses were removed by purges and invalidation since the start. */
  public long removed() {
    return removed.sum() + settlement.removed();
  }

  /** How many responses were made stale by purges since the start. */
  public long madeStale() {
    return settlement.madeStale();
  }
}
