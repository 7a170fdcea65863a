package io.kamille.cache;

import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.Store;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.loop.WallClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** What an operator sees of the cache and does to it. Any thread. */
public final class CacheOperations {

  private final Store store;
  private final InFlightTable flights;
  private final Removals removals;
  private final RouteQueries queries;
  private final WallClock clock;

  CacheOperations(
      Store store,
      InFlightTable flights,
      Removals removals,
      RouteQueries queries,
      WallClock clock) {
    this.store = store;
    this.flights = flights;
    this.removals = removals;
    this.queries = queries;
    this.clock = clock;
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
    return store.memory();
  }

  /** When requests leave the disk alone; empty if there is none. */
  public Optional<PeakWatch> peak() {
    return Optional.ofNullable(store.peak());
  }

  /** What chooses what to forget, and what other memory would hit. */
  public MemoryIndex index() {
    return store.index();
  }

  /**
   * What is stored under a target URI, the most recent by {@code Date} first; empty if no request
   * can have that target URI ({@link CacheKey#find}).
   *
   * @param uri absolute, http or https
   */
  public Optional<List<StoredObject>> objects(String uri) {
    Set<CacheKey> keys = queries.keysOf(uri);
    return keys.isEmpty()
        ? Optional.empty()
        : Optional.of(keys.stream().flatMap(key -> objects(key).stream()).toList());
  }

  private List<StoredObject> objects(CacheKey key) {
    List<StoredObject> found = new ArrayList<>();
    Variants variants = store.peek(key);
    if (variants != null) {
      variants.forEach(stored -> found.add(StoredObject.of(stored, clock.epochSeconds())));
    }
    return found;
  }

  /** The request fields that each stored response of a target URI was selected by. */
  public List<SelectingFields> variants(String uri) {
    List<SelectingFields> selecting = new ArrayList<>();
    for (CacheKey key : queries.keysOf(uri)) {
      Variants variants = store.peek(key);
      for (int i = 0; variants != null && i < variants.size(); i++) {
        selecting.add(variants.at(i).selecting());
      }
    }
    return selecting;
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
    Set<CacheKey> keys = queries.keysOf(uri);
    return keys.isEmpty() ? OptionalInt.empty() : OptionalInt.of(removals.remove(keys));
  }

  /** What takes responses out of the store. */
  public Removals purges() {
    return removals;
  }

  /** Whether a process that served before this one is told of each removal. */
  public boolean tellsElder() {
    return store.tellsElder();
  }
}
