package io.kamille.cache.tiers;

import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.Exchange;
import org.jspecify.annotations.Nullable;

/** Where a request goes on that waited for the disk. */
@FunctionalInterface
public interface DiskContinuation {

  /**
   * Goes on, on the request's loop.
   *
   * @param found what was read for this request, or one of the same key; takes over one lease; null
   *     if there is nothing
   */
  void goOn(Exchange exchange, @Nullable StoredResponse found);
}
