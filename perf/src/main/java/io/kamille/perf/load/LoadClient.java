package io.kamille.perf.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests over many connections as a {@link Demand} says, and checks every octet of the
 * responses. Confined to one thread, which it keeps busy during a run unless the demand lets it
 * sleep.
 */
public final class LoadClient implements AutoCloseable {

  /*
   * A busy thread never sleeps: a timer of the kernel would bundle what should arrive one by one.
   * Each turn sends what is due and asks the selector, without waiting, which connections have
   * something to read; while many have, it looks after each of them whether something has become
   * due.
   */

  private static final int READ_BYTES = 256 * 1024;

  private final LoadSettings settings;
  private final LongSupplier clock;
  private final Selector selector;
  private final List<LoadConnection> connections = new ArrayList<>();
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
  private final Consumer<SelectionKey> whenReady = this::ready;
  private @Nullable Demand demand;
  private long beginNanos;
  private long sentAgain;

  /**
   * How long a run took.
   *
   * @param idleNanos of it, the client had nothing to do
   */
  record Took(long nanos, long idleNanos) {}

  private LoadClient(LoadSettings settings, LongSupplier clock) throws IOException {
    this.settings = settings;
    this.clock = clock;
    this.selector = Selector.open();
  }

  /**
   * Opens the connections, if they are persistent.
   *
   * @throws IOException if one cannot be had; all are closed then
   */
  public static LoadClient open(LoadSettings settings) throws IOException {
    return open(settings, System::nanoTime);
  }

  /** With another clock, which the client reads at least once a turn. */
  static LoadClient open(LoadSettings settings, LongSupplier clock) throws IOException {
    var client = new LoadClient(settings, clock);
    try {
      for (int i = 0; i < settings.connections(); i++) {
        var connection = new LoadConnection(settings, client.selector, i);
        client.connections.add(connection);
        if (settings.arePersistent()) {
          connection.open();
        }
      }
      return client;
    } catch (IOException e) {
      String which = "connection " + client.connections.size() + " of " + settings.connections();
      client.close();
      throw new IOException(which + " to " + settings.server() + ": " + e.getMessage(), e);
    }
  }

  /** Sends all requests at their times and waits until the last one is answered or has failed. */
  public LoadResult run(Arrivals arrivals, RequestSource requests) throws IOException {
    return new ArrivalDemand(arrivals, requests, null).run(this);
  }

  /** The same at one rate, with exponential gaps. */
  public LoadResult run(double rate, Duration duration, long seed, RequestSource requests)
      throws IOException {
    return run(Arrivals.poisson(RateSchedule.steady(rate, duration), seed), requests);
  }

  /** The same, with somebody who is told of each request. */
  public LoadResult run(Arrivals arrivals, RequestSource requests, Consumer<LoadOutcome> observer)
      throws IOException {
    return new ArrivalDemand(arrivals, requests, observer).run(this);
  }

  Took run(Demand current) throws IOException {
    demand = current;
    current.begin(this);
    beginNanos = clock.getAsLong();
    long idleNanos = 0;
    long now = 0;
    while (!current.isOver()) {
      int done = current.send(this, now) + select(current.sleepNanos(now));
      current.tick(this, now);
      long turnBegan = now;
      now = elapsed();
      if (done == 0) {
        idleNanos += now - turnBegan;
        settings.idle().run();
      }
    }
    demand = null;
    return new Took(now, idleNanos);
  }

  private int select(long nanos) throws IOException {
    long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
    return millis > 0 ? selector.select(whenReady, millis) : selector.selectNow(whenReady);
  }

  /** Nanoseconds since the beginning of the run. */
  long elapsed() {
    return clock.getAsLong() - beginNanos;
  }

  LoadSettings settings() {
    return settings;
  }

  List<LoadConnection> connections() {
    return connections;
  }

  /**
   * Sends a request, on a new connection if there is none; gives up the connection if that fails.
   *
   * @param intendedNanos when it should have been sent
   * @param begunNanos when it is
   * @return why it failed, or null
   */
  @Nullable LoadFailure send(
      LoadConnection connection, LoadRequest request, long intendedNanos, long begunNanos) {
    connection.take(request, intendedNanos, begunNanos);
    boolean isOpen = connection.isOpen();
    try {
      if (isOpen) {
        connection.write();
      } else {
        connection.beginOpen();
      }
      return null;
    } catch (IOException e) {
      return isOpen ? LoadFailure.RESET : LoadFailure.CONNECT;
    }
  }

  /**
   * Sends a request now, where no connection may be lost.
   *
   * @throws IllegalStateException if it is
   */
  void send(LoadConnection connection, LoadRequest request) {
    long now = elapsed();
    requireNone(send(connection, request, now, now));
  }

  /**
   * Makes sure that a request did not fail, where none may.
   *
   * @throws IllegalStateException if it did
   */
  static void requireNone(@Nullable LoadFailure failure) {
    if (failure != null) {
      throw new IllegalStateException("a client was lost: " + failure);
    }
  }

  /**
   * Gives up a connection, and tells the demand of the request that was under way on it, unless
   * that is sent again.
   */
  void fail(LoadConnection connection, LoadFailure failure) {
    boolean hasEnded = failure == LoadFailure.CLOSED || failure == LoadFailure.RESET;
    if (settings.isAskingAgain() && hasEnded && connection.mayHaveEndedBefore()) {
      sendAgain(connection);
      return;
    }
    demand().ended(this, connection, failure);
    drop(connection);
    demand().free(this, connection);
  }

  private void sendAgain(LoadConnection connection) {
    sentAgain++;
    connection.close();
    try {
      connection.beginOpen();
    } catch (IOException e) {
      fail(connection, LoadFailure.CONNECT);
    }
  }

  /** How many requests met the end of their connection and were sent again. */
  public long sentAgain() {
    return sentAgain;
  }

  /** Gives up a connection and the request on it. */
  static void drop(LoadConnection connection) {
    connection.close();
    connection.finish();
  }

  private Demand demand() {
    if (demand == null) {
      throw new IllegalStateException("nothing runs");
    }
    return demand;
  }

  private void ready(SelectionKey key) {
    var connection = (LoadConnection) key.attachment();
    if (!connection.isAt(key)) {
      return;
    }
    if (connection.isConnecting()) {
      goOn(connection);
    } else {
      read(connection, demand().readLimit(in.capacity()));
    }
    demand().send(this, elapsed());
  }

  private void goOn(LoadConnection connection) {
    boolean isConnected = false;
    try {
      connection.finishOpen();
      isConnected = true;
      connection.write();
    } catch (IOException e) {
      fail(connection, isConnected ? LoadFailure.RESET : LoadFailure.CONNECT);
    }
  }

  /** Reads what has come, at most so many octets. */
  void read(LoadConnection connection, int limit) {
    in.clear().limit(limit);
    int count;
    try {
      count = connection.read(in);
    } catch (IOException e) {
      lose(connection, LoadFailure.RESET);
      return;
    }
    if (count < 0) {
      lose(connection, LoadFailure.CLOSED);
    } else if (count > 0 && !connection.isBusy()) {
      demand().receivedUnasked();
      connection.close();
    } else if (count > 0) {
      if (demand().isObserving()) {
        connection.received(elapsed());
      }
      understand(connection);
    }
  }

  /** The server ends the connection, as it may while nothing is under way on it. */
  private void lose(LoadConnection connection, LoadFailure failure) {
    if (connection.isBusy()) {
      fail(connection, failure);
    } else {
      connection.close();
    }
  }

  private void understand(LoadConnection connection) {
    ResponseReader reader = connection.reader();
    in.flip();
    switch (reader.read(in)) {
      case MORE -> demand().received(this, connection);
      case BROKEN -> fail(connection, LoadFailure.MALFORMED);
      case COMPLETE -> complete(connection, reader);
    }
  }

  private void complete(LoadConnection connection, ResponseReader reader) {
    LoadFailure failure = reader.failure();
    if (in.hasRemaining()) {
      fail(connection, failure == null ? LoadFailure.WRONG_LENGTH : failure);
      return;
    }
    demand().ended(this, connection, failure);
    if (reader.isLast() || connection.isLastUse()) {
      connection.close();
    }
    connection.finish();
    demand().free(this, connection);
  }

  @Override
  public void close() throws IOException {
    connections.forEach(LoadConnection::close);
    selector.close();
  }
}
