package io.kamille.core.upstream.pool;

import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.metric.Counter;
import io.kamille.core.time.WallClock;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The connections of one loop to one origin. Confined to its loop. */
public final class ConnectionPool<C extends PooledConnection<C>> {

  /*
   * Idle connections form a list, newest first: the one used last is lent next, its memory is warm
   * and its origin has had the least time to close it; the surplus ages at the other end and is
   * closed from there. Taking and giving back move a few links and allocate nothing.
   *
   * Whoever finds none idle waits in line while a new one is opened; a connection that comes back in
   * the meantime serves the first in line. The line is short and has a deadline: an origin that is
   * too slow is felt by its own requests at once, not by the memory of everyone.
   *
   * Beside the connections that may be open there may be a limit, which changes, for those that are
   * lent or being opened. Who finds it reached waits in the same line, even while some are idle.
   *
   * One timer per pool goes round all lent connections a few times a second, instead of one timer
   * per connection or per request. It runs only while there is anything to look at. It also closes
   * idle connections to an address that the origin no longer has; lent ones are closed when they
   * come back.
   */

  /** Opens connections for a pool. */
  @FunctionalInterface
  public interface Dialer<C extends PooledConnection<C>> {

    /**
     * Begins to open one connection. On the pool's loop, at once or later, ends in {@link
     * ConnectionPool#dialed} or {@link ConnectionPool#dialFailed}.
     */
    void dial(ConnectionPool<C> pool);
  }

  /** Someone who waits for a connection. */
  public interface Waiter<C extends PooledConnection<C>> {

    /** Here it is. To be given back by {@link ConnectionPool#release} or {@link #forget}. */
    void lend(C connection);

    /** There will be none. */
    void refuse(Failure why);
  }

  private record Waiting<C extends PooledConnection<C>>(Waiter<C> waiter, long sinceNanos) {}

  private final String origin;
  private final PoolSettings settings;
  private final Dialer<C> dialer;
  private final EventLoop loop;
  private final WallClock clock;
  private final long tickNanos;
  private final long idleTimeoutNanos;
  private final long queueTimeoutNanos;
  private final Counter opened;
  private final Counter closed;

  private final List<C> open = new ArrayList<>();
  private final ArrayDeque<Waiting<C>> line = new ArrayDeque<>();
  private @Nullable C newestIdle;
  private @Nullable C oldestIdle;
  private int idle;
  private int dialing;
  private int lendLimit;
  private boolean ticking;
  private boolean retired;

  /**
   * An empty pool.
   *
   * @param origin its name, for the reasons of failures
   * @param tickNanos how often deadlines are looked at
   * @param opened counts connections as they open
   * @param closed counts connections as they close
   */
  public ConnectionPool(
      String origin,
      PoolSettings settings,
      Dialer<C> dialer,
      EventLoop loop,
      WallClock clock,
      long tickNanos,
      Counter opened,
      Counter closed) {
    this.origin = origin;
    this.settings = settings;
    this.dialer = dialer;
    this.loop = loop;
    this.clock = clock;
    this.tickNanos = tickNanos;
    this.idleTimeoutNanos = settings.idleTimeout().toNanos();
    this.queueTimeoutNanos = settings.queueTimeout().toNanos();
    this.lendLimit = settings.maxConnections();
    this.opened = opened;
    this.closed = closed;
  }

  public EventLoop loop() {
    return loop;
  }

  /** Connections that are open, lent or idle. */
  public int openCount() {
    return open.size();
  }

  public int idleCount() {
    return idle;
  }

  public int waitingCount() {
    return line.size();
  }

  /** Connections that carry a request. */
  public int lentCount() {
    return open.size() - idle;
  }

  /** Lends no more than so many at a time from now on; what is lent stays. */
  public void lendLimit(int count) {
    boolean mayServe = count > lendLimit;
    lendLimit = count;
    if (mayServe && !line.isEmpty()) {
      serveLine();
    }
  }

  /** Whether one more may be lent or opened now. */
  private boolean mayLend() {
    return lentCount() + dialing < lendLimit;
  }

  /** The idle connection that was used last, or null: then {@link #await} one. */
  public @Nullable C takeIdle() {
    while (newestIdle != null && mayLend()) {
      C connection = newestIdle;
      unlink(connection);
      if (!connection.isCurrent()) {
        connection.discard();
      } else if (connection.isOpen()) {
        return connection;
      }
    }
    return null;
  }

  /** Waits for a connection; the answer may come before this returns. */
  public void await(Waiter<C> waiter) {
    if (open.size() + dialing < settings.maxConnections() && mayLend()) {
      line.add(new Waiting<>(waiter, clock.nanos()));
      dial();
    } else if (line.size() - dialing < settings.maxWaiting()) {
      line.add(new Waiting<>(waiter, clock.nanos()));
    } else {
      waiter.refuse(limit("all " + lendLimit + " connections are busy and the line is full"));
    }
  }

  /** Waits no longer. Without effect if the waiter has been answered. */
  public void leave(Waiter<C> waiter) {
    line.removeIf(waiting -> waiting.waiter().equals(waiter));
  }

  /** A connection that was asked for is open. */
  public void dialed(C connection) {
    dialing--;
    opened.increment();
    connection.place = open.size();
    open.add(connection);
    startTicking();
    offer(connection);
  }

  /** A connection that was asked for could not be opened: the first in line gets to hear of it. */
  public void dialFailed(Failure why) {
    dialing--;
    Waiting<C> first = line.poll();
    if (first != null) {
      first.waiter().refuse(why);
    }
    serveLine();
  }

  /** Takes back a connection that can serve another request. */
  public void release(C connection) {
    assert !connection.isIdle;
    if (connection.isCurrent()) {
      offer(connection);
    } else {
      connection.discard();
    }
  }

  /** Strikes a connection, lent or idle, that is closed. */
  public void forget(C connection) {
    if (connection.isIdle) {
      unlink(connection);
    }
    closed.increment();
    C last = open.removeLast();
    if (connection.place < open.size()) {
      open.set(connection.place, last);
      last.place = connection.place;
    }
    serveLine();
  }

  /** Closes what is idle, and from now on whatever comes back. */
  public void retire() {
    retired = true;
    while (oldestIdle != null) {
      discardIdle(oldestIdle);
    }
  }

  private void offer(C connection) {
    Waiting<C> first = lentCount() + dialing <= lendLimit ? line.poll() : null;
    if (first != null) {
      first.waiter().lend(connection);
    } else if (retired || idle >= settings.maxIdle()) {
      connection.discard();
    } else {
      link(connection);
    }
  }

  /** Lends to the line what is idle, which only the limit has held back, and opens the rest. */
  private void serveLine() {
    while (line.size() > dialing) {
      C connection = takeIdle();
      if (connection == null) {
        dialForLine();
        return;
      }
      line.remove().waiter().lend(connection);
    }
  }

  private void dialForLine() {
    while (dialing < line.size()
        && open.size() + dialing < settings.maxConnections()
        && mayLend()) {
      dial();
    }
  }

  private void dial() {
    dialing++;
    startTicking();
    dialer.dial(this);
  }

  private void link(C connection) {
    connection.isIdle = true;
    connection.idleSinceNanos = clock.nanos();
    connection.older = newestIdle;
    if (newestIdle == null) {
      oldestIdle = connection;
    } else {
      newestIdle.newer = connection;
    }
    newestIdle = connection;
    idle++;
  }

  private void unlink(C connection) {
    C older = connection.older;
    C newer = connection.newer;
    if (older == null) {
      oldestIdle = newer;
    } else {
      older.newer = newer;
    }
    if (newer == null) {
      newestIdle = older;
    } else {
      newer.older = older;
    }
    connection.older = null;
    connection.newer = null;
    connection.isIdle = false;
    idle--;
  }

  private void discardIdle(C connection) {
    unlink(connection);
    connection.discard();
  }

  private void startTicking() {
    if (!ticking) {
      ticking = true;
      loop.schedule(this::tick, tickNanos, TimeUnit.NANOSECONDS);
    }
  }

  /** Looks at every deadline once, and again later, whatever comes of it. */
  void tick() {
    try {
      lookAtDeadlines(clock.nanos());
    } finally {
      ticking = false;
      if (!open.isEmpty() || dialing > 0 || !line.isEmpty()) {
        startTicking();
      }
    }
  }

  private void lookAtDeadlines(long now) {
    while (oldestIdle != null && now - oldestIdle.idleSinceNanos >= idleTimeoutNanos) {
      discardIdle(oldestIdle);
    }
    for (int i = open.size() - 1; i >= 0; i--) {
      if (i < open.size()) {
        look(open.get(i), now);
      }
    }
    while (!line.isEmpty() && now - line.peek().sinceNanos() >= queueTimeoutNanos) {
      line.remove()
          .waiter()
          .refuse(
              limit("no connection became free in " + settings.queueTimeout().toMillis() + " ms"));
    }
  }

  /** What goes wrong with one that is lent keeps no other from being looked at. */
  private void look(C connection, long nowNanos) {
    if (connection.isIdle) {
      if (!connection.isCurrent()) {
        discardIdle(connection);
      }
      return;
    }
    try {
      connection.tick(nowNanos);
    } catch (RuntimeException | OutOfMemoryError fault) {
      connection.broken(fault);
    }
  }

  private Failure limit(String reason) {
    return Failure.of(Kind.CONNECTION_LIMIT_REACHED, origin + ": " + reason);
  }
}
