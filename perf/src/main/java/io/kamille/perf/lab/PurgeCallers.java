package io.kamille.perf.lab;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.HdrHistogram.SynchronizedHistogram;

/**
 * Callers that each order a purge, wait for its answer and order the next, on connections that
 * stay.
 *
 * @param seconds from the first order to the last answer
 * @param nanos of each purge
 * @param statuses how often each status code came
 */
record PurgeCallers(double seconds, SynchronizedHistogram nanos, Map<Integer, Integer> statuses) {

  static final int CALLERS = 64;

  /** Makes the request for each purge. */
  interface Order {
    HttpRequest of(int number) throws IOException;
  }

  /**
   * Orders so many purges.
   *
   * @param order the request for each
   * @throws IOException if a connection breaks
   */
  static PurgeCallers run(int purges, Order order) throws IOException, InterruptedException {
    var result = new PurgeCallers(0, new SynchronizedHistogram(3), new TreeMap<>());
    var next = new AtomicInteger();
    long begin = System.nanoTime();
    try (var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var callers =
          IntStream.range(0, CALLERS)
              .mapToObj(_ -> threads.submit(() -> result.call(client, next, purges, order)))
              .toList();
      for (Future<?> caller : callers) {
        caller.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("a caller broke off: " + e.getCause(), e);
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    return new PurgeCallers(seconds, result.nanos, result.statuses);
  }

  private Void call(HttpClient client, AtomicInteger next, int purges, Order order)
      throws IOException, InterruptedException {
    for (int i = next.getAndIncrement(); i < purges; i = next.getAndIncrement()) {
      long begin = System.nanoTime();
      int status = client.send(order.of(i), BodyHandlers.discarding()).statusCode();
      nanos.recordValue(System.nanoTime() - begin);
      synchronized (statuses) {
        statuses.merge(status, 1, Integer::sum);
      }
    }
    return null;
  }

  /** How many were answered with that status code. */
  int of(int status) {
    return statuses.getOrDefault(status, 0);
  }
}
