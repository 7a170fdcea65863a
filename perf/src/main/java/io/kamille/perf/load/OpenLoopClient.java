package io.kamille.perf.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests when they are due, whether or not earlier ones have been answered. Confined to one
 * thread, which it keeps busy from the beginning of a run to its end.
 */
public final class OpenLoopClient implements AutoCloseable {

  /*
   * The thread never sleeps: a timer of the kernel would bundle what should arrive one by one. Each
   * turn sends what is due and asks the selector, without waiting, which connections have something
   * to read; while many have, it looks after each of them whether something has become due.
   *
   * A request goes out on the connection that has been idle for longest. If none is idle it waits
   * in line here, and its latency runs from when it should have been sent.
   */

  private static final int READ_BYTES = 256 * 1024;
  private static final int EXPIRY_LOOKS = 32;

  private final LoadSettings settings;
  private final LongSupplier clock;
  private final Selector selector;
  private final List<LoadConnection> connections = new ArrayList<>();
  private final Deque<LoadConnection> idle;
  private final NanosQueue waiting = new NanosQueue();
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
  private final Consumer<SelectionKey> whenReady = this::ready;

  private @Nullable Run run;

  /** What a run needs besides the connections. */
  private static final class Run {

    private final Arrivals arrivals;
    private final RequestSource requests;
    private final LoadRecorder recorder;
    private final @Nullable LoadObserver observer;
    private long beginNanos;
    private long nextNanos;
    private long lastDoneNanos;
    private int busy;

    private Run(
        Arrivals arrivals,
        RequestSource requests,
        LoadRecorder recorder,
        @Nullable LoadObserver observer) {
      this.arrivals = arrivals;
      this.requests = requests;
      this.recorder = recorder;
      this.observer = observer;
      this.nextNanos = arrivals.next();
    }

    private boolean isObserved() {
      return observer != null;
    }
  }

  private OpenLoopClient(LoadSettings settings, LongSupplier clock) throws IOException {
    this.settings = settings;
    this.clock = clock;
    this.selector = Selector.open();
    this.idle = new ArrayDeque<>(settings.connections() + 1);
  }

  /**
   * Opens the connections, if they are persistent.
   *
   * @throws IOException if one cannot be had
   */
  public static OpenLoopClient open(LoadSettings settings) throws IOException {
    return open(settings, System::nanoTime);
  }

  /** With another clock, which the client reads at least once a turn. */
  static OpenLoopClient open(LoadSettings settings, LongSupplier clock) throws IOException {
    var client = new OpenLoopClient(settings, clock);
    try {
      client.openConnections();
      return client;
    } catch (IOException e) {
      String which = "connection " + client.connections.size() + " of " + settings.connections();
      client.close();
      throw new IOException(which + " to " + settings.server() + ": " + e.getMessage(), e);
    }
  }

  private void openConnections() throws IOException {
    for (int i = 0; i < settings.connections(); i++) {
      var connection = new LoadConnection(settings, selector);
      connections.add(connection);
      if (settings.arePersistent()) {
        connection.open();
      }
      idle.add(connection);
    }
  }

  /** Sends all requests at their times and waits until the last one is answered or has failed. */
  public LoadResult run(Arrivals arrivals, RequestSource requests) throws IOException {
    return run(arrivals, requests, Duration.ZERO);
  }

  /**
   * The same, with latency over time.
   *
   * @param window how long each part is; zero for no parts
   */
  public LoadResult run(Arrivals arrivals, RequestSource requests, Duration window)
      throws IOException {
    var recorder = new LoadRecorder(arrivals.durationNanos(), window.toNanos());
    return run(new Run(arrivals, requests, recorder, null));
  }

  /** The same, with somebody who is told of each request. */
  public LoadResult run(Arrivals arrivals, RequestSource requests, LoadObserver observer)
      throws IOException {
    return run(
        new Run(arrivals, requests, new LoadRecorder(arrivals.durationNanos(), 0), observer));
  }

  private LoadResult run(Run current) throws IOException {
    run = current;
    long lookNanos = Math.max(1, settings.timeLimit().toNanos() / EXPIRY_LOOKS);
    long nextLook = lookNanos;
    long idleNanos = 0;
    current.beginNanos = clock.getAsLong();
    long now = 0;
    while (current.nextNanos != Arrivals.NONE || current.busy > 0 || !waiting.isEmpty()) {
      int done = sendDue(current, now) + selector.selectNow(whenReady);
      if (now >= nextLook) {
        expire(current, now);
        nextLook = now + lookNanos;
      }
      long turnBegan = now;
      now = elapsed(current);
      if (done == 0) {
        idleNanos += now - turnBegan;
        settings.idle().run();
      }
    }
    run = null;
    long nanos = Math.max(current.lastDoneNanos, current.arrivals.durationNanos());
    return current.recorder.result(nanos, idleNanos);
  }

  private long elapsed(Run current) {
    return clock.getAsLong() - current.beginNanos;
  }

  private int sendDue(Run current, long nanos) {
    int count = 0;
    for (long now = nanos; current.nextNanos <= now; now = elapsed(current)) {
      current.recorder.due(current.nextNanos, now);
      waiting.add(current.nextNanos);
      current.nextNanos = current.arrivals.next();
      count++;
      assign(current);
    }
    return count;
  }

  /** Gives the requests that wait to the connections that are idle. */
  private void assign(Run current) {
    while (!waiting.isEmpty() && !idle.isEmpty()) {
      send(current, idle.remove(), waiting.remove());
    }
  }

  private void send(Run current, LoadConnection connection, long intendedNanos) {
    long begunNanos = current.isObserved() ? elapsed(current) : intendedNanos;
    connection.take(current.requests.next(), intendedNanos, begunNanos);
    current.busy++;
    boolean isOpen = connection.isOpen();
    try {
      if (isOpen) {
        connection.write();
      } else {
        current.recorder.connected();
        connection.beginOpen();
      }
    } catch (IOException e) {
      fail(current, connection, isOpen ? LoadFailure.RESET : LoadFailure.CONNECT);
    }
  }

  private void ready(SelectionKey key) {
    var connection = (LoadConnection) key.attachment();
    if (!connection.isAt(key)) {
      return;
    }
    Run current = run;
    if (current == null) {
      throw new IllegalStateException("nothing runs");
    }
    if (connection.isConnecting()) {
      goOn(current, connection);
    } else {
      receive(current, connection);
    }
    assign(current);
    sendDue(current, elapsed(current));
  }

  private void goOn(Run current, LoadConnection connection) {
    try {
      connection.finishOpen();
    } catch (IOException e) {
      fail(current, connection, LoadFailure.CONNECT);
      return;
    }
    try {
      connection.write();
    } catch (IOException e) {
      fail(current, connection, LoadFailure.RESET);
    }
  }

  private void receive(Run current, LoadConnection connection) {
    in.clear();
    int count;
    try {
      count = connection.read(in);
    } catch (IOException e) {
      lose(current, connection, LoadFailure.RESET);
      return;
    }
    if (count < 0) {
      lose(current, connection, LoadFailure.CLOSED);
    } else if (count > 0 && !connection.isBusy()) {
      current.recorder.failed(LoadFailure.WRONG_LENGTH);
      connection.close();
    } else if (count > 0) {
      if (current.isObserved()) {
        connection.received(elapsed(current));
      }
      understand(current, connection);
    }
  }

  /** The server ends the connection, as it may while nothing is under way on it. */
  private void lose(Run current, LoadConnection connection, LoadFailure failure) {
    if (connection.isBusy()) {
      fail(current, connection, failure);
    } else {
      connection.close();
    }
  }

  private void understand(Run current, LoadConnection connection) {
    ResponseReader reader = connection.reader();
    in.flip();
    switch (reader.read(in)) {
      case MORE -> {}
      case BROKEN -> fail(current, connection, LoadFailure.MALFORMED);
      case COMPLETE -> complete(current, connection, reader);
    }
  }

  private void complete(Run current, LoadConnection connection, ResponseReader reader) {
    LoadFailure failure = reader.failure();
    if (in.hasRemaining()) {
      fail(current, connection, failure == null ? LoadFailure.WRONG_LENGTH : failure);
      return;
    }
    if (failure == null) {
      current.recorder.right(connection.intendedNanos(), elapsed(current));
    } else {
      current.recorder.failed(failure);
    }
    tell(current, connection, failure);
    if (reader.isLast() || connection.isLastUse()) {
      connection.close();
    }
    release(current, connection);
  }

  private void fail(Run current, LoadConnection connection, LoadFailure failure) {
    current.recorder.failed(failure);
    tell(current, connection, failure);
    connection.close();
    release(current, connection);
  }

  private static void tell(Run current, LoadConnection connection, @Nullable LoadFailure failure) {
    LoadObserver observer = current.observer;
    if (observer != null) {
      observer.ended(connection.outcome(failure));
    }
  }

  private void release(Run current, LoadConnection connection) {
    connection.finish();
    idle.add(connection);
    current.busy--;
    current.lastDoneNanos = elapsed(current);
  }

  private void expire(Run current, long nanos) {
    long oldest = nanos - settings.timeLimit().toNanos();
    while (!waiting.isEmpty() && waiting.peek() < oldest) {
      waiting.remove();
      current.recorder.failed(LoadFailure.TIME_OUT);
      current.lastDoneNanos = nanos;
    }
    for (LoadConnection connection : connections) {
      if (connection.isBusy() && connection.intendedNanos() < oldest) {
        fail(current, connection, LoadFailure.TIME_OUT);
      }
    }
    assign(current);
  }

  @Override
  public void close() throws IOException {
    connections.forEach(LoadConnection::close);
    selector.close();
  }
}
