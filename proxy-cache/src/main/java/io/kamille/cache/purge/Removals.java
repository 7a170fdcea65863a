package io.kamille.cache.purge;

import io.kamille.cache.collapse.InFlightTable;
import io.kamille.cache.semantics.CacheKey;
import io.kamille.cache.semantics.Invalidation;
import io.kamille.cache.tier.TieredStore;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;

/**
 * Takes responses out of the store, for good: requests that come afterwards do not meet them, nor
 * those that are still on their way. Any thread.
 */
public final class Removals {

  private final TieredStore store;
  private final InFlightTable flights;

  public Removals(TieredStore store, InFlightTable flights) {
    this.store = store;
    this.flights = flights;
  }

  /** Removes what is stored under that key, and says how many responses that were. */
  public int remove(CacheKey key) {
    flights.remove(key);
    return store.remove(key);
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    flights.clear();
    return store.clear();
  }

  /** Removes what this response to an unsafe request makes invalid (RFC 9111 §4.4). */
  public void invalidate(RequestHead request, ResponseHead response) {
    Invalidation.of(request, response).forEach(this::remove);
  }
}
