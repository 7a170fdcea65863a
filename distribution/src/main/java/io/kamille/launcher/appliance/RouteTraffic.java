package io.kamille.launcher.appliance;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.ExchangeObserver;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts the exchanges of each route on one loop. Written on its loop; read on any thread. */
final class RouteTraffic implements ExchangeObserver {

  /*
   * Routes come and go with configurations, and their names stay here: there is room for several
   * configurations with a thousand routes each. A route beyond that is not counted. A cell has one
   * writer, which reads its own last value plainly.
   */
  private static final int MOST_ROUTES = 16_384;
  private static final int SERVER_ERROR = 500;

  private static final int REQUESTS = 0;
  private static final int HITS = 1;
  private static final int FAILURES = 2;
  private static final int LAST_NANOS = 3;
  private static final int CELLS = 4;

  private final Map<String, AtomicLongArray> routes = new ConcurrentHashMap<>();

  /**
   * What was asked of one route.
   *
   * @param hits requests answered from the store
   * @param failures requests answered with 5xx
   * @param lastNanos when the last one ended, on the monotonic clock; of no meaning without
   *     requests
   */
  record Counts(long requests, long hits, long failures, long lastNanos) {

    /** Nothing. */
    static final Counts NONE = new Counts(0, 0, 0, 0);

    /** Both together. */
    Counts plus(Counts other) {
      if (requests == 0 || other.requests == 0) {
        return requests == 0 ? other : this;
      }
      return new Counts(
          requests + other.requests,
          hits + other.hits,
          failures + other.failures,
          lastNanos - other.lastNanos > 0 ? lastNanos : other.lastNanos);
    }
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    String route = exchange.notes().route();
    AtomicLongArray cells = routes.get(route);
    if (cells == null) {
      if (route.isEmpty() || routes.size() >= MOST_ROUTES) {
        return;
      }
      cells = new AtomicLongArray(CELLS);
      routes.put(route, cells);
    }
    CacheResult cache = exchange.notes().cache();
    if (cache == CacheResult.HIT || cache == CacheResult.STALE_HIT) {
      increment(cells, HITS);
    }
    if (status >= SERVER_ERROR) {
      increment(cells, FAILURES);
    }
    cells.setOpaque(LAST_NANOS, endNanos);
    increment(cells, REQUESTS);
  }

  private static void increment(AtomicLongArray cells, int cell) {
    cells.setRelease(cell, cells.getPlain(cell) + 1);
  }

  /** What was asked of the route of that name. Any thread. */
  Counts of(String route) {
    AtomicLongArray cells = routes.get(route);
    return cells == null
        ? Counts.NONE
        : new Counts(
            cells.getAcquire(REQUESTS),
            cells.getOpaque(HITS),
            cells.getOpaque(FAILURES),
            cells.getOpaque(LAST_NANOS));
  }
}
