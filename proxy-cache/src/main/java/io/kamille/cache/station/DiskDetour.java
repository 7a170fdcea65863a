package io.kamille.cache.station;

import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.serve.LoopState;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.DiskContinuation;
import io.kamille.cache.tiers.DiskLookups;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.Method;
import org.jspecify.annotations.Nullable;

/**
 * The detour of a request that memory cannot answer: it waits until the disk was read, and comes
 * back with what was found. Any loop.
 */
final class DiskDetour {

  private final TieredStore store;
  private final InFlightTable flights;
  private final @Nullable DiskLookups lookups;
  private final DiskContinuation onward;

  /**
   * A detour to a disk.
   *
   * @param lookups who reads the disk; null if there is none
   * @param onward where requests come back to
   */
  DiskDetour(
      TieredStore store,
      InFlightTable flights,
      @Nullable DiskLookups lookups,
      DiskContinuation onward) {
    this.store = store;
    this.flights = flights;
    this.lookups = lookups;
    this.onward = onward;
  }

  /**
   * Whether the request waits for what the disk has. It does not if the response is on its way:
   * what comes is newer. Borrows the key.
   */
  boolean takes(Exchange exchange, LoopState loop, CacheKey key) {
    return lookups != null
        && flights.find(key, exchange.request()) == null
        && lookups.hold(exchange, key, loop.home(), onward);
  }

  /**
   * What was read from the disk, or has become of it in memory, if this request can use it. Takes
   * over one lease on {@code read}; the caller owns one on what is returned.
   *
   * @param stored what memory has for the request by now, or null; the caller's lease stays
   */
  @Nullable StoredResponse usable(
      Exchange exchange, @Nullable StoredResponse stored, StoredResponse read) {
    if (stored != null && stored.isSameContent(read)) {
      read.release();
      return stored;
    }
    if (stored == null
        && read.selecting().matches(exchange.request())
        && store.isUnpurged(read)
        && (!read.content().isInFile() || takesFiles(exchange))) {
      return read;
    }
    read.release();
    return null;
  }

  /** Whether the client takes content from a file, or none. */
  private static boolean takesFiles(Exchange exchange) {
    return exchange.request().method() == Method.HEAD || exchange.reply().takesRegions();
  }
}
