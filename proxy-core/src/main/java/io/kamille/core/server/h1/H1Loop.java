package io.kamille.core.server.h1;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.h1.HeadWriter;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the HTTP/1.1 connections of one loop share: settings, scratch, spare exchanges, and the
 * sweep that enforces deadlines. Confined to its loop, but for the counts.
 */
public final class H1Loop {

  /*
   * Deadlines are fields of the connections, looked at once a second: no timer is scheduled or
   * cancelled for a request. A second of imprecision matters to no limit we have.
   */
  private static final long SWEEP_MILLIS = 1000;
  private static final int MAX_SPARE = 64;

  final EventLoop loop;
  final String name;
  final ExchangeHandler handler;
  final ExchangeObserver observer;
  final LongSupplier nanoClock;
  final LongSupplier epochSeconds;
  final HeadWriter writer = new HeadWriter();

  private final ArrayDeque<ClientExchange> spare = new ArrayDeque<>(MAX_SPARE);
  private H1Settings settings;
  private long nowNanos;
  private boolean draining;
  private @Nullable ClientConnection first;
  private volatile int connections;

  /**
   * The shared part for {@code loop}.
   *
   * @param name how this proxy calls itself in {@code Proxy-Status}
   * @param nanoClock monotonic nanoseconds
   * @param epochSeconds wall clock for the {@code Date} of answers that lack one
   */
  public H1Loop(
      EventLoop loop,
      String name,
      H1Settings settings,
      ExchangeHandler handler,
      ExchangeObserver observer,
      LongSupplier nanoClock,
      LongSupplier epochSeconds) {
    this.loop = loop;
    this.name = name;
    this.settings = settings;
    this.handler = handler;
    this.observer = observer;
    this.nanoClock = nanoClock;
    this.epochSeconds = epochSeconds;
  }

  /** Begins to sweep. Any thread; once. */
  public void start() {
    loop.scheduleWithFixedDelay(this::sweep, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
  }

  public EventLoop loop() {
    return loop;
  }

  public H1Settings settings() {
    return settings;
  }

  /**
   * New settings, for what begins from now on. Any thread.
   *
   * @return done once the loop goes by them: it may look at a socket before it looks at its tasks
   */
  public Future<?> settings(H1Settings settings) {
    return loop.submit(
        () -> {
          this.settings = settings;
          spare.clear();
        });
  }

  /** Looks at the clock, once for a burst of reads: good enough for deadlines and start times. */
  void lookAtClock() {
    nowNanos = nanoClock.getAsLong();
  }

  /** The time of the last look, monotonic. */
  long nowNanos() {
    return nowNanos;
  }

  /** Open connections. Any thread. */
  public int connections() {
    return connections;
  }

  /** Closes idle connections and lets the others finish their exchange. Any thread. */
  public void drain() {
    loop.execute(
        () -> {
          draining = true;
          forEach(ClientConnection::drain);
        });
  }

  /** Closes all connections at once. Any thread. */
  public void closeAll() {
    loop.execute(() -> forEach(ClientConnection::close));
  }

  boolean isDraining() {
    return draining;
  }

  /** Closes what has passed its deadline. */
  void sweep() {
    lookAtClock();
    forEach(ClientConnection::checkDeadline);
  }

  private void forEach(Consumer<ClientConnection> action) {
    ClientConnection connection = first;
    while (connection != null) {
      ClientConnection next = connection.next;
      action.accept(connection);
      connection = next;
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  void add(ClientConnection connection) {
    connection.next = first;
    if (first != null) {
      first.previous = connection;
    }
    first = connection;
    connections++;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  void remove(ClientConnection connection) {
    if (connection.previous != null) {
      connection.previous.next = connection.next;
    } else {
      first = connection.next;
    }
    if (connection.next != null) {
      connection.next.previous = connection.previous;
    }
    connection.previous = null;
    connection.next = null;
    connections--;
  }

  /** An exchange for the next request of {@code connection}. */
  ClientExchange take(ClientConnection connection) {
    ClientExchange used = spare.pollLast();
    ClientExchange exchange = used == null ? new ClientExchange(this, settings.head()) : used;
    exchange.begin(connection);
    return exchange;
  }

  /** Takes back an exchange that nobody can know of any more, unless its limits are old ones. */
  void giveBack(ClientExchange exchange) {
    if (spare.size() < MAX_SPARE && exchange.limits().equals(settings.head())) {
      exchange.forget();
      spare.addLast(exchange);
    }
  }
}
