package io.kamille.cache.collapse;

import io.kamille.cache.semantics.CacheKey;
import io.kamille.core.time.WallClock;
import io.netty.channel.EventLoop;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight that may be followed, by cache key, and the keys whose responses turned
 * out not to be shared. Any thread.
 */
public final class InFlightTable {

  private final WallClock clock;
  private final ConcurrentHashMap<CacheKey, InFlight> flights = new ConcurrentHashMap<>();
  private final UncachableKeys uncachable = new UncachableKeys();

  public InFlightTable(WallClock clock) {
    this.clock = clock;
  }

  /** The flight to follow, or null. Borrows the key, which may be a probe. */
  public @Nullable InFlight find(CacheKey key) {
    return flights.get(key);
  }

  /**
   * A flight whose leader is the caller, on {@code loop}; null if there is one already. Keeps the
   * key.
   */
  public @Nullable InFlight begin(CacheKey key, EventLoop loop) {
    InFlight flight = new InFlight(this, key, loop, clock);
    return flights.putIfAbsent(key, flight) == null ? flight : null;
  }

  /** Lets nobody follow the flight any more; those who do go on. Borrows the key. */
  public void remove(CacheKey key) {
    flights.remove(key);
  }

  /** As {@link #remove}, for all flights. */
  public void clear() {
    flights.clear();
  }

  void remove(CacheKey key, InFlight flight) {
    flights.remove(key, flight);
  }

  /** Whether requests under that key are better not held back. Borrows the key. */
  public boolean isUncachable(CacheKey key) {
    return uncachable.contains(key, clock.nanos());
  }

  /** Remembers for a while that what comes for that key is not shared. Keeps the key. */
  public void uncachable(CacheKey key, long durationNanos) {
    uncachable.add(key, clock.nanos() + durationNanos);
  }

  /** What comes for that key is shared after all. Borrows the key. */
  public void cachable(CacheKey key) {
    uncachable.remove(key);
  }

  /** How many flights there are, for metrics. */
  public int size() {
    return flights.size();
  }
}
