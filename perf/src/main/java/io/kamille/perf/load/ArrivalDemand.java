package io.kamille.perf.load;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * An open loop: requests are sent when they are due, whether or not earlier ones have been
 * answered.
 *
 * <p>A request goes out on the connection that has been idle for longest. If none is idle it waits
 * in line here, and its latency runs from when it should have been sent.
 */
final class ArrivalDemand extends Demand {

  private static final int EXPIRY_LOOKS = 32;

  private final Arrivals arrivals;
  private final RequestSource requests;
  private final LoadRecorder recorder;
  private final @Nullable LoadObserver observer;
  private final Deque<LoadConnection> idle = new ArrayDeque<>();
  private final NanosQueue waiting = new NanosQueue();
  private long limitNanos;
  private long nextLook;
  private long nextNanos;
  private long lastDoneNanos;
  private int busy;

  /**
   * For one run.
   *
   * @param windowNanos of the parts of the result; 0 for none
   */
  ArrivalDemand(
      Arrivals arrivals,
      RequestSource requests,
      long windowNanos,
      @Nullable LoadObserver observer) {
    this.arrivals = arrivals;
    this.requests = requests;
    this.recorder = new LoadRecorder(arrivals.durationNanos(), windowNanos);
    this.observer = observer;
    this.nextNanos = arrivals.next();
  }

  LoadResult run(LoadClient client) throws IOException {
    LoadClient.Took took = client.run(this);
    return recorder.result(Math.max(lastDoneNanos, arrivals.durationNanos()), took.idleNanos());
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
      recorder.due(nextNanos, now);
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
    if (!connection.isOpen()) {
      recorder.connected();
    }
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
      recorder.right(connection.intendedNanos(), client.elapsed());
    } else {
      recorder.failed(failure);
    }
    if (observer != null) {
      observer.ended(connection.outcome(failure));
    }
  }

  @Override
  void free(LoadClient client, LoadConnection connection) {
    idle.add(connection);
    busy--;
    lastDoneNanos = client.elapsed();
  }

  @Override
  void receivedUnasked() {
    recorder.failed(LoadFailure.WRONG_LENGTH);
  }

  @Override
  void look(LoadClient client, long nanos) {
    if (nanos < nextLook) {
      return;
    }
    nextLook = nanos + lookNanos();
    long oldest = nanos - limitNanos;
    while (!waiting.isEmpty() && waiting.peek() < oldest) {
      waiting.remove();
      recorder.failed(LoadFailure.TIME_OUT);
      lastDoneNanos = nanos;
    }
    for (LoadConnection connection : client.connections()) {
      if (connection.isBusy() && connection.intendedNanos() < oldest) {
        client.fail(connection, LoadFailure.TIME_OUT);
      }
    }
  }
}
