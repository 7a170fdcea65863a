package io.kamille.core.origin.pool;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Counter;
import io.kamille.core.origin.PoolSettings;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The connections of one loop to one origin. Confined to its loop. */
public final class ConnectionPool<C extends PooledConnection<C>> {

  /*
   * Whoever finds none idle waits in line while a new one is opened; a connection that comes back
   * in the meantime serves the first in line. The line is short and has a deadline: an origin that
   * is too slow is felt by its own requests at once, not by the memory of everyone.
   *
   * A connection has places: one in HTTP/1.1, many in HTTP/2. One that has some left is lent before
   * one that is idle, and the one that had none before the others: so the surplus falls idle, and
   * ages. Where connections have many places, one at a time is opened for as many of the line.
   *
   * Of a connection is kept how often it is lent and when it was last used. The rest follows: it is
   * idle while it is not lent, and it may be lent while it has a place. The two lists only say which
   * one is lent next. A connection is in one of them at most, and is asked again before it is lent.
   *
   * An upload, a request whose content has not come to its end, holds its place for as long as
   * its client likes. So uploads get three quarters of what may be lent and of the line, and the
   * others pass those that wait for such a place. One place at least is left to the others where
   * there are two.
   *
   * One timer per pool goes round all connections a few times a second, instead of one timer per
   * connection or per request. It runs only while there is anything to look at. It also closes idle
   * connections to an address that the origin no longer has; lent ones are closed when they come
   * back.
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
  private final WaitingLine<C> line = new WaitingLine<>();

  /**
   * The idle ones that can be lent, the one used last at the end: it is lent next, because its
   * memory is warm and its origin has had the least time to close it.
   */
  private final List<C> idle = new ArrayList<>();

  /** Those that carry requests and can carry more; the last one was full, or idle, last. */
  private final List<C> roomy = new ArrayList<>();

  private int lent;
  private int dialing;
  private int uploading;
  private int placesExpected;
  private boolean serving;
  private boolean ticking;
  private boolean retired;

  /**
   * An empty pool.
   *
   * @param origin its name, for the reasons of failures
   * @param placesExpected how many a connection will have, as far as that is known
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
      int placesExpected,
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
    this.placesExpected = placesExpected;
    this.opened = opened;
    this.closed = closed;
  }

  /** Connections that are open, lent or idle. */
  int openCount() {
    return open.size();
  }

  int idleCount() {
    return idle.size();
  }

  int waitingCount() {
    return line.size();
  }

  /** Requests under way. */
  public int lentCount() {
    return lent;
  }

  /** Whether one more may be lent or opened now. */
  private boolean mayLend() {
    return lent + dialing < settings.maxConnections();
  }

  /** Uploads that may begin. */
  private int uploadsLeft() {
    return WaitingLine.uploadPart(settings.maxConnections()) - uploading;
  }

  /** Whether one more upload may begin, after those that wait. */
  private boolean mayUpload() {
    return uploadsLeft() > line.uploads();
  }

  /**
   * A place on the connection that was used last, or null: then {@link #await} one.
   *
   * @param forUpload whether for a request whose content is still to come; then {@link #uploaded}
   *     has to follow, once
   */
  public @Nullable C take(boolean forUpload) {
    C connection = forUpload && !mayUpload() ? null : find();
    if (connection != null) {
      lend(connection, forUpload);
    }
    return connection;
  }

  private void lend(C connection, boolean forUpload) {
    connection.lent++;
    lent++;
    uploading += forUpload ? 1 : 0;
    sort(connection);
  }

  /** Whether a connection has a place that may be lent. */
  private static boolean mayCarryMore(PooledConnection<?> connection) {
    return hasPlace(connection) && connection.isCurrent();
  }

  private static boolean hasPlace(PooledConnection<?> connection) {
    return !connection.isGone && connection.lent < connection.places() && connection.isOpen();
  }

  /** Puts a connection where it belongs, whatever has changed. */
  @SuppressWarnings("ReferenceEquality") // a list is itself
  private void sort(C connection) {
    List<C> other = connection.lent == 0 ? idle : roomy;
    List<C> list = mayCarryMore(connection) ? other : null;
    if (list != connection.list) {
      if (connection.list != null) {
        take(connection, connection.list);
      }
      connection.list = list;
      if (list != null) {
        list.add(connection);
      }
    }
  }

  /** Mostly it is the last. */
  private void take(C connection, List<C> list) {
    list.remove(list.lastIndexOf(connection));
  }

  /** A connection has more places than before, or fewer. */
  public void placesChanged(C connection) {
    settle(connection, mayCarryMore(connection));
  }

  /** An upload has come to its end, or will have none. Another may begin before this returns. */
  public void uploaded() {
    uploading--;
    serveLine();
  }

  /** A connection with a place that may be lent, or null. */
  private @Nullable C find() {
    while (mayLend()) {
      C next = roomy.isEmpty() ? (idle.isEmpty() ? null : idle.getLast()) : roomy.getLast();
      if (next == null || mayCarryMore(next)) {
        return next;
      }
      sort(next);
      if (next.lent == 0) {
        next.close();
      }
    }
    return null;
  }

  /** Waits for a connection; the answer may come before this returns. */
  public void await(Waiter<C> waiter) {
    if (mayOpen() && (!waiter.isUpload() || mayUpload())) {
      line.add(waiter, clock.nanos());
      dialFor(line.ready(uploadsLeft()));
    } else if (line.hasRoom(
        waiter, settings.maxWaiting(), dialing * placesExpected, uploadsLeft())) {
      line.add(waiter, clock.nanos());
      serveLine();
    } else {
      waiter.refuse(limit("no connection is free" + whom(waiter) + " and the line is full"));
    }
  }

  /** Opens the first connection, so that whoever comes next need not wait for it. */
  public void warm() {
    if (open.isEmpty() && !retired && mayOpen()) {
      dialFor(1);
    }
  }

  private boolean mayOpen() {
    return open.size() + dialing < settings.maxConnections() && mayLend();
  }

  /** Waits no longer. Without effect if the waiter has been answered. */
  public void leave(Waiter<C> waiter) {
    line.remove(waiter);
  }

  /** A connection that was asked for is open. */
  public void dialed(C connection) {
    dialing--;
    opened.increment();
    placesExpected = Math.max(1, connection.places());
    connection.place = open.size();
    open.add(connection);
    startTicking();
    connection.lastUsedNanos = clock.nanos();
    // Be it that its address has gone meanwhile: another one need not do better.
    settle(connection, hasPlace(connection));
  }

  /** A connection that was asked for could not be opened: the first in line gets to hear of it. */
  public void dialFailed(Failure why) {
    dialing--;
    Waiter<C> first = next();
    if (first != null) {
      first.refuse(why);
    }
    serveLine();
  }

  /** Takes a place back: the connection can carry another request, or closes itself soon. */
  public void release(C connection) {
    assert connection.lent > 0;
    connection.lent--;
    lent--;
    connection.lastUsedNanos = clock.nanos();
    settle(connection, mayCarryMore(connection));
  }

  /** Strikes a connection, lent or idle, that is closed. */
  public void forget(C connection) {
    connection.isGone = true;
    lent -= connection.lent;
    connection.lent = 0;
    sort(connection);
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
    forEachOpen(this::closeIfIdle);
  }

  private void closeIfIdle(C connection) {
    if (connection.lent == 0) {
      connection.close();
    }
  }

  /** What an action closes is met no more. */
  private void forEachOpen(Consumer<C> action) {
    for (int i = open.size() - 1; i >= 0; i--) {
      if (i < open.size()) {
        action.accept(open.get(i));
      }
    }
  }

  /** Something of a connection has changed: it serves the line, may be idle, or is closed. */
  private void settle(C connection, boolean mayServe) {
    Waiter<C> first = connection.lent == 0 && mayServe && mayLend() ? next() : null;
    if (first != null) {
      lend(connection, first);
    } else {
      sort(connection);
      if (connection.lent == 0 && isSurplus(connection)) {
        connection.close();
      }
    }
    serveLine();
  }

  private boolean isSurplus(C connection) {
    return retired || connection.list == null || idle.size() > settings.maxIdle();
  }

  private @Nullable Waiter<C> next() {
    return line.poll(uploadsLeft() > 0);
  }

  private void lend(C connection, Waiter<C> waiter) {
    lend(connection, waiter.isUpload());
    waiter.lend(connection);
  }

  /**
   * Lends to the line what is idle, and opens the rest. What is lent may come to its end meanwhile:
   * the loop that runs looks after that.
   */
  private void serveLine() {
    if (serving) {
      return;
    }
    serving = true;
    try {
      while (line.ready(uploadsLeft()) > 0) {
        C connection = find();
        Waiter<C> first = connection == null ? null : next();
        if (connection != null && first != null) {
          lend(connection, first);
        } else if (!mayOpen() || !dialFor(line.ready(uploadsLeft()))) {
          return;
        }
      }
    } finally {
      serving = false;
    }
  }

  /** Opens one more connection, unless those being opened suffice for so many. */
  private boolean dialFor(int count) {
    if (count <= dialing * placesExpected) {
      return false;
    }
    dialing++;
    startTicking();
    dialer.dial(this);
    return true;
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
      checkDeadlines(clock.nanos());
    } finally {
      ticking = false;
      if (!open.isEmpty() || dialing > 0 || line.size() > 0) {
        startTicking();
      }
    }
  }

  private void checkDeadlines(long now) {
    forEachOpen(connection -> checkDeadline(connection, now));
    Waiter<C> late = line.pollLate(now, queueTimeoutNanos);
    while (late != null) {
      late.refuse(
          limit(
              "no connection became free"
                  + whom(late)
                  + " in "
                  + settings.queueTimeout().toMillis()
                  + " ms"));
      late = line.pollLate(now, queueTimeoutNanos);
    }
  }

  /** What goes wrong with one that is lent keeps no other from being looked at. */
  private void checkDeadline(C connection, long nowNanos) {
    if (connection.lent == 0) {
      if (!connection.isCurrent() || nowNanos - connection.lastUsedNanos >= idleTimeoutNanos) {
        connection.close();
      }
      return;
    }
    try {
      connection.tick(nowNanos);
    } catch (RuntimeException | OutOfMemoryError fault) {
      connection.caught(fault);
    }
  }

  private static String whom(Waiter<?> waiter) {
    return waiter.isUpload() ? " for a request with content" : "";
  }

  private Failure limit(String reason) {
    return Failure.of(ErrorType.CONNECTION_LIMIT_REACHED, origin + ": " + reason);
  }
}
