package io.kamille.cache;

import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.OperatorPurges;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.cache.tiers.peak.PeakWatch;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** What an operator sees of the cache and does to it. Any thread. */
public final class CacheOperations {

  private final TieredStore store;
  private final InFlightTable flights;
  private final Removals removals;
  private final OperatorPurges purges;
  private final RouteQueries queries;

  CacheOperations(
      TieredStore store,
      InFlightTable flights,
      Removals removals,
      OperatorPurges purges,
      RouteQueries queries) {
    this.store = store;
    this.flights = flights;
    this.removals = removals;
    this.purges = purges;
    this.queries = queries;
  }

  /** What the memory tier holds in all. */
  public long capacityBytes() {
    return store.capacityBytes();
  }

  /** What is taken of it: stored, being stored, or forgotten and still read. */
  public long usedBytes() {
    return store.usedBytes();
  }

  /** What the memory is taken by. */
  public MemorySnapshot memory() {
    return store.figures().memory();
  }

  /** How many target URIs were forgotten for want of room, since the start. */
  public long evictions() {
    return store.index().evictions();
  }

  /** Lets that policy choose what to forget, from now on. */
  public void choose(PolicyChoice choice) {
    store.index().choose(choice);
  }

  /** When requests leave the disk alone; empty if there is none. */
  public Optional<PeakWatch> peak() {
    return Optional.ofNullable(store.peak());
  }

  /** Which policy chooses what to forget, and why. */
  public PolicySnapshot policy() {
    return store.index().policy();
  }

  /** Watches for so long what other amounts of memory would hit; 0 ends that. */
  public void watch(long seconds) {
    store.index().watch(seconds);
  }

  /** What they would have hit; empty if that was never watched. */
  public Optional<Forecast> forecast() {
    return Optional.ofNullable(store.index().forecast());
  }

  /** How many target URIs something is stored under; an estimate while fills go on. */
  public long keys() {
    return store.size();
  }

  /** How many forwarded requests others may wait for at this moment. */
  public int inFlight() {
    return flights.size();
  }

  /**
   * Removes what is stored for a URI, with the query that its route makes of it, and says how many
   * responses that were; empty if it is no URI that a request can have ({@link CacheKey#find}).
   *
   * @param uri absolute, http or https
   */
  public OptionalInt purge(String uri) {
    CacheKey key = queries.keyOf(uri);
    return key == null ? OptionalInt.empty() : OptionalInt.of(removals.remove(key));
  }

  /**
   * Purges what {@code target} is about: no request that comes afterwards meets it, or meets it
   * fresh.
   *
   * @param isSoft whether it is made stale, not removed
   * @return null if that is not possible before the next sweep
   */
  public @Nullable PurgeReport purge(PurgeTarget target, boolean isSoft) {
    return purges.purge(target, isSoft);
  }

  /** Counts what such a purge would be about, and changes nothing; null as above. */
  public @Nullable PurgeReport count(PurgeTarget target, boolean isSoft) {
    return purges.count(target, isSoft);
  }

  /**
   * Runs {@code action} when what was purged before this call holds for later processes too, even
   * after a kill; at once where nothing outlives this process. On any thread.
   */
  public void whenKept(Runnable action) {
    store.whenKept(action);
  }

  /** The last purges, the newest first. */
  public List<PurgeReport> purges() {
    return purges.recent();
  }

  /** Removes everything, and says how many responses that were. */
  public int clear() {
    return removals.clear();
  }
}
