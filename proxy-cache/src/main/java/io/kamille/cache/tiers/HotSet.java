package io.kamille.cache.tiers;

import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.time.WallClock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What memory holds and was asked for, as a process that stops leaves it to the next one. Confined
 * to one thread; requests have ended.
 */
public final class HotSet {

  /** How long a stop is held up to write what is not on the disk yet. */
  public static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private record Member(CacheKey key, StoredResponse response, int hits) {}

  private final TieredStore store;
  private final DiskTier disk;
  private final WallClock clock;
  private final long deadlineNanos;

  private HotSet(TieredStore store, DiskTier disk, WallClock clock, long limitNanos) {
    this.store = store;
    this.disk = disk;
    this.clock = clock;
    this.deadlineNanos = clock.nanos() + limitNanos;
  }

  /**
   * Has all that was asked for written, hottest first, as far as the time allows, and remembers in
   * which order.
   */
  public static void leave(TieredStore store, DiskTier disk, WallClock clock, long limitNanos) {
    new HotSet(store, disk, clock, limitNanos).leave();
  }

  private void leave() {
    List<Member> members = new ArrayList<>();
    store.forEach((key, variants) -> addAll(key, variants, members));
    members.sort(Comparator.comparingInt(Member::hits).reversed());
    Set<CacheKey> keys = new LinkedHashSet<>();
    boolean isTime = true;
    for (Member member : members) {
      isTime = isTime && write(member);
      if (member.response.isCopied()) {
        keys.add(member.key);
      }
    }
    disk.keepHeat(List.copyOf(keys));
  }

  private void addAll(CacheKey key, Variants variants, List<Member> members) {
    long now = clock.epochSeconds();
    for (int i = 0; i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      boolean isOfUse = response.facts().isFresh(now) || response.facts().hasValidator();
      if (isOfUse && (response.isCopied() || response.hits() > 0)) {
        members.add(new Member(key, response, response.hits()));
      }
    }
  }

  /** Waits for room in the queue; false if there is no time left. */
  private boolean write(Member member) {
    boolean isOffered = offer(member);
    while (!isOffered && disk.isRunning() && clock.nanos() - deadlineNanos < 0) {
      LockSupport.parkNanos(this, LOOK_NANOS);
      isOffered = offer(member);
    }
    return isOffered;
  }

  /** Whether nothing more is to be done for it. */
  private boolean offer(Member member) {
    StoredResponse response = member.response;
    if (!response.tryRetain()) {
      return true;
    }
    try {
      return store.copy(member.key, response);
    } finally {
      response.release();
    }
  }
}
