package io.kamille.cache.removal;

import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.TestIndexes;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.tiers.Store;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.loop.WallClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;

/** A store whose sweeps are run by hand. Confined to its test. */
final class PurgeFixture implements AutoCloseable {

  private static final int CAPACITY = 16 << 20;

  final Arena arena = Arena.open(CAPACITY);
  final PurgeTable table = new PurgeTable();
  final Store store =
      new Store(
          arena,
          TestIndexes.inCaller(
              Store.indexCapacityBytes(CAPACITY), PolicyChoice.AUTO, WallClock.system()),
          table,
          null);
  final ManualClock clock = ManualClock.atSeconds(1_800_000_000);

  /** What the sweeper has to do. */
  final Queue<Runnable> waiting = new ArrayDeque<>();

  final Sweeper sweeper =
      new Sweeper(
          store,
          table,
          clock,
          nanos -> clock.advance(Duration.ofNanos(nanos)),
          waiting::add,
          waiting::add);
  final Removals removals =
      new Removals(
          store, new InFlightTable(clock, table), table, sweeper, new RouteQueries(), clock);

  /** Does all that the sweeper has to do. */
  void sweep() {
    while (!waiting.isEmpty()) {
      waiting.remove().run();
    }
  }

  @Override
  public void close() {
    store.clear();
    arena.close();
  }
}
