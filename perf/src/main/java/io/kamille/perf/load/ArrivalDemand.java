package io.kamille.perf.load;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Requests that come by a clock and take any idle connection; without one they wait in the client,
 * at the server's charge. For one run.
 */
final class ArrivalDemand extends Demand {

  /*
   * Latency runs from the instant a request should have been sent to its last octet, whatever kept
   * the client from sending it: a server that stalls is charged for everybody who came meanwhile.
   * Lateness is the client's own part of it: how long after its instant it noticed a request.
   */

  /** How often in its time limit what takes too long is looked for. */
  private static final int EXPIRY_LOOKS = 32;

  private static final long GREATEST_NANOS = 60_000_000_000L;
  private static final int DIGITS = 3;

  private final Arrivals arrivals;
  private final RequestSource requests;
  private final @Nullable Consumer<LoadOutcome> observer;
  private final Deque<LoadConnection> idle = new ArrayDeque<>();
  private final Deque<Long> waiting = new ArrayDeque<>();
  private final Histogram latency = new Histogram(GREATEST_NANOS, DIGITS);
  private final Histogram hits = new Histogram(GREATEST_NANOS, DIGITS);
  private final Histogram lateness = new Histogram(GREATEST_NANOS, DIGITS);
  private final Map<LoadFailure, Long> failures = new EnumMap<>(LoadFailure.class);
  private long offered;
  private long connects;
  private long answeredInPlan;
  private long limitNanos;
  private long nextLook;
  private long nextNanos;
  private long lastDoneNanos;
  private int busy;

  ArrivalDemand(
      Arrivals arrivals, RequestSource requests, @Nullable Consumer<LoadOutcome> observer) {
    this.arrivals = arrivals;
    this.requests = requests;
    this.observer = observer;
    this.nextNanos = arrivals.next();
  }

  LoadResult run(LoadClient client) throws IOException {
    LoadClient.Took took = client.run(this);
    long nanos = Math.max(lastDoneNanos, arrivals.durationNanos());
    return new LoadResult(
        offered,
        failures,
        connects,
        arrivals.durationNanos(),
        answeredInPlan,
        nanos,
        nanos - took.idleNanos(),
        latency,
        hits,
        lateness);
  }

  @Override
  void begin(LoadClient client) {
    idle.addAll(client.connections());
    limitNanos = client.settings().timeLimit().toNanos();
    nextLook = lookNanos();
  }

  private long lookNanos() {
    return Math.max(1, limitNanos / EXPIRY_LOOKS);
  }

  @Override
  boolean isOver() {
    return nextNanos == Arrivals.NONE && busy == 0 && waiting.isEmpty();
  }

  @Override
  boolean isObserving() {
    return observer != null;
  }

  @Override
  int send(LoadClient client, long nanos) {
    assign(client);
    int count = 0;
    for (long now = nanos; nextNanos <= now; now = client.elapsed()) {
      offered++;
      record(lateness, now - nextNanos);
      waiting.add(nextNanos);
      nextNanos = arrivals.next();
      count++;
      assign(client);
    }
    return count;
  }

  /** Gives the requests that wait to the connections that are idle. */
  private void assign(LoadClient client) {
    while (!waiting.isEmpty() && !idle.isEmpty()) {
      send(client, idle.remove(), waiting.remove());
    }
  }

  private void send(LoadClient client, LoadConnection connection, long intendedNanos) {
    connects += connection.isOpen() ? 0 : 1;
    busy++;
    long begunNanos = isObserving() ? client.elapsed() : intendedNanos;
    LoadFailure failure = client.send(connection, requests.next(), intendedNanos, begunNanos);
    if (failure != null) {
      client.fail(connection, failure);
    }
  }

  @Override
  void ended(LoadClient client, LoadConnection connection, @Nullable LoadFailure failure) {
    if (failure == null) {
      long now = client.elapsed();
      record(latency, now - connection.intendedNanos());
      if (connection.reader().source().isHit()) {
        record(hits, now - connection.intendedNanos());
      }
      answeredInPlan += now <= arrivals.durationNanos() ? 1 : 0;
    } else {
      failed(failure);
    }
    if (observer != null) {
      observer.accept(connection.outcome(failure));
    }
  }

  private static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.clamp(nanos, 0, GREATEST_NANOS));
  }

  private void failed(LoadFailure failure) {
    failures.merge(failure, 1L, Long::sum);
  }

  @Override
  void free(LoadClient client, LoadConnection connection) {
    idle.add(connection);
    busy--;
    lastDoneNanos = client.elapsed();
  }

  @Override
  void receivedUnasked() {
    failed(LoadFailure.WRONG_LENGTH);
  }

  @Override
  void tick(LoadClient client, long nanos) {
    if (nanos < nextLook) {
      return;
    }
    nextLook = nanos + lookNanos();
    long oldest = nanos - limitNanos;
    while (!waiting.isEmpty() && waiting.element() < oldest) {
      waiting.remove();
      failed(LoadFailure.TIME_OUT);
      lastDoneNanos = nanos;
    }
    for (LoadConnection connection : client.connections()) {
      if (connection.isBusy() && connection.intendedNanos() < oldest) {
        client.fail(connection, LoadFailure.TIME_OUT);
      }
    }
  }
}
