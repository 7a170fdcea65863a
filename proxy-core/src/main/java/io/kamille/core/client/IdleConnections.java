package io.kamille.core.client;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one loop that have no exchange and no octet of a head, the longest idle first,
 * and how they are closed. Confined to its loop, but for the counts.
 */
final class IdleConnections {

  /*
   * Two lists, because the first request may be awaited for less long than the next one. Both are
   * in the order of `idleSinceNanos`: a connection comes to the end of one with the end of every
   * exchange. One whose exchange ends in the turn in which it began never leaves the list in
   * between: on a hit a connection moves to the end, and that is all.
   *
   * What comes to the front may still have octets of its last answer on the way. It is not idle
   * then, and goes to where the content time-out is looked at.
   *
   * The time-out is asked for anew for each connection, so that closing stops where the count has
   * become small enough. It is a task: whatever a client had sent by the last poll has been read.
   * A request that crosses the end of its connection is lost, as RFC 9112 §9.5 foresees; we end the
   * connection in stages, so that no reset overtakes the last answer (§9.6). Only where a place is
   * needed at once for somebody else is a connection closed whole.
   */
  private static final int ENDED_PER_TURN = 128;

  /**
   * A client that is here for so short a time is about to speak, and yields its place to nobody.
   */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ConnectionList silent = new ConnectionList();
  private final ConnectionList between = new ConnectionList();
  private final EventLoop loop;
  private final LoopTime time;
  private final Supplier<ClientSettings> settings;
  private final IdleTimeout idleTimeout;
  private final ConnectionList lingering;
  private final LongAdder endedEarly = new LongAdder();
  private final LongAdder displaced = new LongAdder();

  /**
   * No connections yet.
   *
   * @param lingering those whose closing has begun: they count no more
   */
  IdleConnections(
      EventLoop loop,
      LoopTime time,
      Supplier<ClientSettings> settings,
      IdleTimeout idleTimeout,
      ConnectionList lingering) {
    this.loop = loop;
    this.time = time;
    this.settings = settings;
    this.idleTimeout = idleTimeout;
    this.lingering = lingering;
  }

  /** A connection has begun. */
  void begun(ListedConnection connection) {
    connection.idleSinceNanos = time.nowNanos();
    silent.append(connection);
  }

  /** An exchange of this connection is over. */
  void over(ListedConnection connection) {
    connection.idleSinceNanos = time.nowNanos();
    between.append(connection);
  }

  /** Ends what is idle too long, the longest idle first. */
  void sweep() {
    for (int i = 0; i < ENDED_PER_TURN; i++) {
      ListedConnection connection = due();
      if (connection == null) {
        return;
      }
      boolean early = age(connection) < configuredNanos(connection);
      if (connection.endIfIdle() && early) {
        endedEarly.increment();
      }
    }
    loop.execute(this::sweep);
  }

  private @Nullable ListedConnection due() {
    ClientSettings present = settings.get();
    long timeout = idleTimeout.nanos(present.idleTimeout().toNanos(), lingering.size());
    long first = Math.min(timeout, present.headTimeout().toNanos());
    return longer(ifIdleFor(first, silent.first()), ifIdleFor(timeout, between.first()));
  }

  private long configuredNanos(ListedConnection connection) {
    ClientSettings present = settings.get();
    return (silent.holds(connection) ? present.headTimeout() : present.idleTimeout()).toNanos();
  }

  /** Closes the connection that is idle longest, at once; false if there is none. */
  boolean displace() {
    while (true) {
      ListedConnection connection = longer(ifIdleFor(GRACE_NANOS, silent.first()), between.first());
      if (connection == null) {
        return false;
      }
      if (connection.closeIfIdle()) {
        displaced.increment();
        return true;
      }
    }
  }

  private @Nullable ListedConnection ifIdleFor(long nanos, @Nullable ListedConnection connection) {
    return connection != null && age(connection) >= nanos ? connection : null;
  }

  private long age(ListedConnection connection) {
    return time.nowNanos() - connection.idleSinceNanos;
  }

  private @Nullable ListedConnection longer(
      @Nullable ListedConnection one, @Nullable ListedConnection other) {
    if (one == null || other == null) {
      return one == null ? other : one;
    }
    return age(one) >= age(other) ? one : other;
  }

  void drain() {
    silent.forEach(ListedConnection::drain);
    between.forEach(ListedConnection::drain);
  }

  /** Those that have ended an exchange: of what it sent, much may lie in the kernel still. */
  void forEachBetween(Consumer<ListedConnection> action) {
    between.forEach(action);
  }

  void closeAll() {
    silent.forEach(ListedConnection::close);
    between.forEach(ListedConnection::close);
  }

  /** Connections ended before the configured time-out. Any thread. */
  long endedEarly() {
    return endedEarly.sum();
  }

  /** Connections closed to make room for others. Any thread. */
  long displaced() {
    return displaced.sum();
  }
}
