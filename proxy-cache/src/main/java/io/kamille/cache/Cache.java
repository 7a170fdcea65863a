package io.kamille.cache;

import io.kamille.cache.coding.Coder;
import io.kamille.cache.coding.CodingWorkers;
import io.kamille.cache.collapse.InFlightTable;
import io.kamille.cache.generation.PurgeTable;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicyIndex;
import io.kamille.cache.index.ResponseIndex;
import io.kamille.cache.index.SearchVariances;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.Purges;
import io.kamille.cache.purge.Removals;
import io.kamille.cache.purge.RouteQueries;
import io.kamille.cache.purge.Sweeper;
import io.kamille.cache.purge.SweeperThread;
import io.kamille.cache.semantics.QueryRules;
import io.kamille.cache.serve.CacheLoops;
import io.kamille.cache.tier.TieredStore;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.time.WallClock;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What all routes that cache share: the store, the requests in flight, the counters. Any thread.
 */
public final class Cache implements AutoCloseable {

  private final Arena arena;
  private final TieredStore store;
  private final InFlightTable flights;
  private final CacheLoops loops;
  private final WallClock clock;
  private final SweeperThread sweeperThread;
  private final SearchVariances variances = new SearchVariances();
  private final RouteQueries queries = new RouteQueries(variances);
  private final Removals removals;
  private final CacheOperations operations;
  private final CacheContents contents;
  private final long sendfileFromBytes;
  private final Executor workers;
  private final Coder coder;

  private Cache(
      Arena arena,
      long sendfileFromBytes,
      Executor workers,
      MetricRegistry registry,
      WallClock clock) {
    this.arena = arena;
    this.sweeperThread = new SweeperThread();
    this.sendfileFromBytes = sendfileFromBytes;
    ResponseIndex index =
        new PolicyIndex(
            TieredStore.indexCapacityBytes(arena.capacityBytes()),
            PolicyChoice.AUTO,
            arena::charge,
            clock);
    PurgeTable purges = new PurgeTable();
    this.store = new TieredStore(arena, index, purges);
    this.workers = workers;
    this.coder = new Coder(store, workers, registry);
    this.flights = new InFlightTable(clock, purges);
    this.loops = new CacheLoops(registry);
    this.clock = clock;
    Sweeper sweeper = new Sweeper(store, purges, sweeperThread);
    this.removals = new Removals(store, flights, purges, sweeper, queries, clock);
    this.operations =
        new CacheOperations(
            store,
            flights,
            purges,
            removals,
            new Purges(removals, sweeper, clock),
            queries,
            registry);
    this.contents = new CacheContents(store, queries, clock);
  }

  /**
   * Takes {@code capacityBytes} of memory outside the heap. All content is sent by copying.
   *
   * @throws IllegalArgumentException if that is too little
   * @throws IllegalStateException if the kernel refuses
   */
  public static Cache open(long capacityBytes, MetricRegistry registry, WallClock clock) {
    return open(capacityBytes, CodingWorkers.open(), registry, clock);
  }

  /**
   * As {@link #open(long, MetricRegistry, WallClock)}, but where the kernel and the connection
   * allow it, content of {@code sendfileFromBytes} or more is sent without being copied.
   */
  public static Cache open(
      long capacityBytes, long sendfileFromBytes, MetricRegistry registry, WallClock clock) {
    Arena arena = Arena.openSendable(capacityBytes);
    return new Cache(arena, sendfileFromBytes, CodingWorkers.open(), registry, clock);
  }

  /** As {@link #open(long, MetricRegistry, WallClock)}, but somebody else's threads compress. */
  static Cache open(
      long capacityBytes, Executor workers, MetricRegistry registry, WallClock clock) {
    return new Cache(Arena.open(capacityBytes), Long.MAX_VALUE, workers, registry, clock);
  }

  /** A handler for one route; what it forwards goes to {@code next}. */
  public CacheHandler handler(ExchangeHandler next, CacheSettings settings) {
    return new CacheHandler(
        next,
        store,
        flights,
        variances,
        removals,
        coder,
        loops,
        settings,
        sendfileFromBytes,
        clock);
  }

  /**
   * Whom to ask, from any thread, for the rules of the route that a request takes: so purges and
   * invalidations find what is stored under the query that a route makes of another.
   */
  public void routes(Function<RequestHead, QueryRules> routes) {
    queries.follow(routes);
  }

  /**
   * The method {@code PURGE}, in front of the router.
   *
   * @param hasRoute whether the router has a route for a request; asked from any thread
   */
  public PurgeMethod purgeMethod(ExchangeHandler router, Predicate<RequestHead> hasRoute) {
    return new PurgeMethod(router, hasRoute, removals, queries);
  }

  /** What an operator sees and does. */
  public CacheOperations operations() {
    return operations;
  }

  /** What lies in it. */
  public CacheContents contents() {
    return contents;
  }

  /**
   * Forgets everything and gives the memory back. Comes after the last loop has ended.
   *
   * @throws IllegalStateException if something is still read or filled
   */
  @Override
  public void close() {
    sweeperThread.close();
    if (workers instanceof CodingWorkers own) {
      own.close();
    }
    operations.clear();
    arena.close();
  }
}
