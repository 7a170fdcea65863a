package io.kamille.cache;

import io.kamille.cache.CacheHandover.HeldDisk;
import io.kamille.cache.coding.Coder;
import io.kamille.cache.disk.Disk;
import io.kamille.cache.disk.DiskMetrics;
import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.fill.CacheParts;
import io.kamille.cache.fill.Fetches.Onward;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.fill.StoreCurrentness;
import io.kamille.cache.index.IndexMemory;
import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.key.HashSecret;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.removal.Sweeper;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.LoopStates;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.settings.MemorySettings;
import io.kamille.cache.settings.RouteCacheSettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cache.station.PurgeMethod;
import io.kamille.cache.tiers.DiskCopies;
import io.kamille.cache.tiers.DiskLookups;
import io.kamille.cache.tiers.Store;
import io.kamille.cache.tiers.WorkerThreads;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What all routes that cache share: the store, the requests in flight, the counters. Any thread.
 */
public final class Cache implements AutoCloseable {

  /** What waits to be written is memory that cannot be forgotten meanwhile. */
  private static final int QUEUE_SHARE = 16;

  private static final long QUEUE_LIMIT_BYTES = 64L << 20;

  private final Arena arena;
  private final MemoryIndex index;
  final Store store;
  private final WorkerThreads sweeper = WorkerThreads.sweeping("kamille-purge-");
  private final WorkerThreads counter = WorkerThreads.sweeping("kamille-purge-count-");
  private final StoreCurrentness currentness = new StoreCurrentness();
  private final RouteQueries queries = new RouteQueries();
  private final Removals removals;
  private final CacheOperations operations;
  private final Executor workers;
  private final CacheParts parts;
  private final CacheHandover handover;

  private Cache(
      Arena arena,
      @Nullable HeldDisk disk,
      long sendfileFromBytes,
      Executor workers,
      LoopStates loops,
      MetricRegistry registry,
      WallClock clock) {
    this.arena = arena;
    this.index =
        MemoryIndex.open(
            Store.indexCapacityBytes(arena.capacityBytes()),
            PolicyChoice.AUTO,
            memory(arena),
            clock);
    PurgeTable purges = new PurgeTable();
    this.store = new Store(arena, index, purges, disk == null ? null : disk.copies());
    DiskLookups lookups = null;
    if (disk != null) {
      disk.copies().disk().keepPurges(purges);
      DiskMetrics.register(disk.copies()::disk, registry);
      disk.copies().peak().register(registry);
      lookups =
          new DiskLookups(
              store, disk.copies(), disk.readers(), disk.settings().sendFromBytes(), registry);
    }
    this.workers = workers;
    Coder coder = new Coder(store, workers, registry);
    InFlightTable flights = new InFlightTable(clock, purges);
    Sweeper sweep = new Sweeper(store, purges, clock, LockSupport::parkNanos, sweeper, counter);
    this.removals = new Removals(store, flights, purges, sweep, queries, clock);
    this.parts =
        new CacheParts(
            store,
            lookups,
            flights,
            coder,
            loops,
            removals::invalidate,
            currentness,
            sendfileFromBytes,
            clock);
    this.operations = new CacheOperations(store, flights, removals, queries, clock);
    this.handover = new CacheHandover(store, purges, removals, disk, clock);
    handover.warm();
    index.register(registry);
    store.register(registry);
    flights.register(registry);
    purges.register(registry);
    removals.register(registry);
  }

  private static IndexMemory memory(Arena arena) {
    return new IndexMemory() {
      @Override
      public boolean charge(long changeBytes) {
        return arena.charge(changeBytes);
      }

      @Override
      public long freeBytes() {
        return arena.freeBytes() + arena.renewingBytes();
      }
    };
  }

  /**
   * The cache that these settings describe. With a disk, the secret of cache keys is that of the
   * store, for the whole process: there is one such cache.
   *
   * @param disk where the disk tier's directory lies
   * @throws IllegalStateException if the kernel refuses the memory
   * @throws IOException if the directory of the disk cannot be had: see {@link DiskTier#open}
   */
  public static Cache open(
      SharedCacheSettings settings, Disk disk, MetricRegistry registry, WallClock clock)
      throws IOException {
    MemorySettings memory = settings.memory();
    WorkerThreads coders = WorkerThreads.compressing();
    return settings.disk().isOn()
        ? open(memory, settings.disk(), disk, WorkerThreads.reading(), coders, registry, clock)
        : open(memory, coders, registry, clock);
  }

  /**
   * A cache without a disk.
   *
   * @param memory whether it is supplied at start, and which content is sent from it
   * @param workers whose threads compress
   * @throws IllegalStateException if the kernel refuses the memory
   */
  static Cache open(
      MemorySettings memory, Executor workers, MetricRegistry registry, WallClock clock) {
    Arena arena = arena(memory);
    LoopStates loops = new LoopStates(registry);
    return new Cache(arena, null, memory.sendfileFromBytes(), workers, loops, registry, clock);
  }

  /** Where the kernel allows it, content is sent without being copied, unless all is copied. */
  private static Arena arena(MemorySettings settings) {
    Arena arena =
        settings.sendfileFromBytes() == Long.MAX_VALUE
            ? Arena.open(settings.capacityBytes())
            : Arena.openSendable(settings.capacityBytes());
    if (settings.isPrefaulted()) {
      arena.prefault();
    }
    return arena;
  }

  /**
   * A cache with copies on a disk.
   *
   * @param readers whose threads wait for the disk
   * @param workers whose threads compress
   * @throws IOException if the directory cannot be had: see {@link DiskTier#open}
   */
  static Cache open(
      MemorySettings memory,
      DiskSettings settings,
      Disk disk,
      Executor readers,
      Executor workers,
      MetricRegistry registry,
      WallClock clock)
      throws IOException {
    Path path = Objects.requireNonNull(settings.path(), "path");
    long queueBytes = Math.min(memory.capacityBytes() / QUEUE_SHARE, QUEUE_LIMIT_BYTES);
    CacheHandover.Opening opening =
        () -> DiskTier.open(disk, path, settings.capacityBytes(), queueBytes);
    DiskTier tier = opening.open();
    HashSecret.use(tier.secretHigh(), tier.secretLow());
    Arena arena = null;
    try {
      arena = arena(memory);
    } finally {
      if (arena == null) {
        tier.close();
      }
    }
    LoopStates loops = new LoopStates(registry);
    PeakWatch peak = new PeakWatch(settings.peak(), loops::requests, clock);
    DiskCopies copies = new DiskCopies(tier, settings.admission(), peak);
    HeldDisk held = new HeldDisk(opening, copies, readers, settings);
    return new Cache(arena, held, memory.sendfileFromBytes(), workers, loops, registry, clock);
  }

  /**
   * The station of a route with these settings.
   *
   * @param shared what holds for all routes
   * @param forwardGate asked once about every request that what is stored does not answer
   */
  public CacheHandler handler(
      Onward onward, RouteCacheSettings route, SharedCacheSettings shared, RouteGate forwardGate) {
    return new CacheHandler(onward, parts, CacheSettings.of(route, shared), forwardGate);
  }

  /**
   * A handler for one route; what it forwards goes to {@code next}.
   *
   * @param forwardGate asked once about every request that what is stored does not answer
   */
  public CacheHandler handler(ExchangeHandler next, CacheSettings settings, RouteGate forwardGate) {
    Onward onward = new Onward(next, next, CacheStatus.NAME);
    return new CacheHandler(onward, parts, settings, forwardGate);
  }

  /**
   * Whom to ask, from any thread, for the routes that requests for a target may take, one at least:
   * so purges and invalidations find what each route has stored, under the query that it makes.
   */
  public void routes(Function<RequestHead, List<RouteQueries.Way>> routes) {
    queries.follow(routes);
  }

  /**
   * The methods that purge, in front of the router.
   *
   * @param hasRoute whether the router has a route for a request; asked from any thread
   */
  public PurgeMethod purgeMethod(ExchangeHandler router, Predicate<RequestHead> hasRoute) {
    return new PurgeMethod(router, hasRoute, removals, queries);
  }

  /** Until when what is stored may be served without asking the origin about it. */
  public StoreCurrentness currentness() {
    return currentness;
  }

  /** What an operator sees and does. */
  public CacheOperations operations() {
    return operations;
  }

  /** How it takes the place of another process's, and is replaced. */
  public CacheHandover handover() {
    return handover;
  }

  /**
   * Gives the memory back; what was offered to the disk is written, and stays there. Comes after
   * the last loop has ended.
   *
   * @throws IllegalStateException if something is still read or filled
   */
  @Override
  public void close() {
    sweeper.close();
    counter.close();
    if (workers instanceof WorkerThreads own) {
      own.close();
    }
    handover.close();
    parts.flights().clear();
    store.close();
    index.close();
    arena.close();
  }
}
