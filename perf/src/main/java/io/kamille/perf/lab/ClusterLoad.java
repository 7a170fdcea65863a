package io.kamille.perf.lab;

import io.kamille.perf.compare.Origin;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.WebAxe4;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Load on several sites at once, a thread for each, until it is closed. The sites share one source
 * of requests.
 */
final class ClusterLoad implements AutoCloseable {

  private static final int CONNECTIONS = 64;
  private static final int SEED = 1;
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

  /** The clients, the origin and the lab itself share a core. */
  private static final long IDLE_NANOS = 50_000;

  private final Origin origin;
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final LongAdder asked = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Future<?>> clients = new ArrayList<>();

  /**
   * How much there has been so far.
   *
   * @param forwarded requests that the origin has answered
   */
  record Mark(long nanos, long asked, long failed, long forwarded) {

    Mark since(Mark before) {
      return new Mark(
          nanos - before.nanos,
          asked - before.asked,
          failed - before.failed,
          forwarded - before.forwarded);
    }
  }

  /**
   * Begins.
   *
   * @param ports of the sites
   * @param rate requests per second of all sites together
   */
  ClusterLoad(Origin origin, List<Integer> ports, RequestSource requests, double rate)
      throws IOException {
    this.origin = origin;
    RequestSource shared = shared(requests);
    for (int port : ports) {
      var client =
          LoadClient.open(
              settings(port, CONNECTIONS)
                  .withTimeLimit(TIME_LIMIT)
                  .withUses(WebAxe4.clientUses(SEED))
                  .askingAgain());
      clients.add(
          threads.submit(
              () -> {
                try (client) {
                  return client.run(
                      Arrivals.even(rate / ports.size(), isOver::get),
                      shared,
                      outcome -> failed.add(outcome.failure() == null ? 0 : 1));
                }
              }));
    }
  }

  /** Connections of a client that leaves its core to others while it has nothing to do. */
  static LoadSettings settings(int port, int connections) {
    return LoadSettings.persistent(port, connections)
        .withIdle(() -> LockSupport.parkNanos(IDLE_NANOS));
  }

  private RequestSource shared(RequestSource requests) {
    return () -> {
      asked.increment();
      synchronized (requests) {
        return requests.next();
      }
    };
  }

  /** Asks these sites for all that may be asked for again. */
  static void fill(Origin origin, List<Integer> ports, WebAxe4 workload, double rate)
      throws IOException {
    RequestSource filling = workload.filling();
    var isFilled = new AtomicBoolean();
    RequestSource noting =
        () -> {
          LoadRequest next = filling.next();
          isFilled.set(workload.isFilled());
          return next;
        };
    try (var load = new ClusterLoad(origin, ports, noting, rate)) {
      while (!isFilled.get()) {
        load.during(Duration.ofMillis(100));
      }
    }
  }

  Mark mark() throws IOException {
    return new Mark(System.nanoTime(), asked.sum(), failed.sum(), origin.requests());
  }

  /** What comes in that time from now on. */
  Mark during(Duration duration) throws IOException {
    Mark before = mark();
    long end = before.nanos + duration.toNanos();
    while (System.nanoTime() - end < 0) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
    return mark().since(before);
  }

  /** Waits for what is under way. */
  @Override
  public void close() throws IOException {
    isOver.set(true);
    try {
      for (Future<?> client : clients) {
        client.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("a client broke off: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      threads.shutdownNow();
    }
  }
}
