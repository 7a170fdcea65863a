package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.http.StatusCode;
import io.kamille.core.socket.TunableChannel;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections to clients of one loop, each in one list by what it does, and how they end.
 * Confined to its loop, but for the counts.
 */
@SuppressWarnings("NonAtomicVolatileUpdate") // counts are written by this loop only
public final class LoopConnections {

  /*
   * Deadlines are fields of the connections, looked at once a second: no timer is scheduled or
   * cancelled for a request. A second of imprecision matters to no limit we have. Idle connections
   * lie in the order in which they became idle, so only those that are due are looked at. Those
   * within a head are among the unfinished heads, those whose closing has begun linger, and all
   * others are busy.
   *
   * The idle ones are in two lists, because the first request may be awaited for less long than the
   * next one. Both are in the order of `idleSinceNanos`: a connection comes to the end of one with
   * the end of every exchange. One whose exchange ends in the turn in which it began never leaves
   * the list in between: on a hit a connection moves to the end, and that is all.
   *
   * What comes to the front may still have octets of its last answer on the way. It is not idle
   * then, and goes to where the content time-out is looked at.
   *
   * The idle time-out is asked for anew for each connection, so that closing stops where the count
   * has become small enough. Closing is a task: whatever a client had sent by the last poll has been
   * read. A request that crosses the end of its connection is lost, as RFC 9112 §9.5 foresees; we end the
   * connection in stages, so that no reset overtakes the last answer (§9.6). Only where a place is
   * needed at once for somebody else is a connection closed whole.
   *
   * A head that comes in one read, as nearly all do, is never unfinished. Others are, for as long
   * as their clients take; all together they may take so much of the heap, however many the
   * connections and however large a head may be. When it is used up, the oldest yields: a client
   * that does nothing wrong has sent its head within a few round trips. A head that is larger than
   * the whole room makes nobody else yield.
   */

  /**
   * How long tunnels may go on once no other exchange begins and somebody waits for our end: they
   * know no end of their own, and would hold a drain up for as long as it may last. Behind another
   * process, that last is what they have.
   */
  private static final long TUNNEL_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** How many of those that linger are looked at for a new connection: each costs a system call. */
  private static final int LOOKS_FOR_ROOM = 16;

  /** Idle connections that are ended in one turn. */
  private static final int ENDED_PER_TURN = 128;

  /**
   * A client that is here for so short a time is about to speak, and yields its place to nobody.
   */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final EventLoop loop;
  private final LoopTime time;
  private final Supplier<ClientSettings> settings;
  private final IdleTimeout idleTimeout;
  private final ListedConnection.Line silent = new ListedConnection.Line();
  private final ListedConnection.Line between = new ListedConnection.Line();
  private final ListedConnection.Line busy = new ListedConnection.Line();
  private final ListedConnection.Line heads = new ListedConnection.Line();
  private final ListedConnection.Line lingering = new ListedConnection.Line();
  private boolean draining;
  private long drainingSinceNanos;
  private long idleMayStayNanos;
  private long tunnelsMayStayNanos;
  private volatile int open;
  private volatile long endedEarly;
  private volatile long displaced;
  private volatile long unfinishedHeadBytes;
  private volatile long displacedHeads;
  private volatile long tooSlow;
  private volatile long stopped;

  LoopConnections(
      EventLoop loop, LoopTime time, Supplier<ClientSettings> settings, IdleTimeout idleTimeout) {
    this.loop = loop;
    this.time = time;
    this.settings = settings;
    this.idleTimeout = idleTimeout;
  }

  // For the connections

  /** A connection has come, and is idle. */
  public void begun(ListedConnection connection) {
    connection.idleSinceNanos = time.nowNanos();
    silent.append(connection);
    open++;
  }

  /** A connection is closed. */
  public void gone(ListedConnection connection) {
    headIsOver(connection);
    ListedConnection.Line.remove(connection);
    open--;
  }

  /** A connection has something under way, and a deadline; one that is busy keeps its place. */
  public void busy(ListedConnection connection) {
    if (!busy.holds(connection)) {
      busy.append(connection);
    }
  }

  /** Whether it is among the busy ones. */
  public boolean isBusy(ListedConnection connection) {
    return busy.holds(connection);
  }

  /** A connection waits for its next request. */
  public void idle(ListedConnection connection) {
    connection.idleSinceNanos = time.nowNanos();
    between.append(connection);
  }

  /** The closing of a connection has begun. */
  public void lingers(ListedConnection connection) {
    headIsOver(connection);
    lingering.append(connection);
  }

  /** More of a head has come, though not all: it takes so much of the heap now. */
  public void headGrew(ListedConnection connection, int headBytes) {
    if (connection.headBytes == 0) {
      heads.append(connection);
    }
    unfinishedHeadBytes += headBytes - connection.headBytes;
    connection.headBytes = headBytes;
    long room = settings.get().roomForHeadsBytes();
    if (headBytes > room) {
      connection.refuseHead(HeadsUnderWay.tooLarge());
    }
    while (unfinishedHeadBytes > room) {
      displaceOldestHead();
    }
  }

  private void displaceOldestHead() {
    ListedConnection oldest = heads.first();
    if (oldest == null) {
      throw new IllegalStateException(
          "unfinished heads: " + unfinishedHeadBytes + " octets of none");
    }
    displacedHeads++;
    try {
      oldest.refuseHead(
          Failure.request(
              StatusCode.REQUEST_TIMEOUT, "the room for unfinished request heads is used up"));
    } catch (RuntimeException | OutOfMemoryError bug) {
      // Not the fault of the connection that is read from.
      oldest.endBy(bug);
    }
  }

  /** The head of this connection is complete, or given up; it is in no list then. */
  public void headIsOver(ListedConnection connection) {
    if (connection.headBytes != 0) {
      unfinishedHeadBytes -= connection.headBytes;
      connection.headBytes = 0;
      ListedConnection.Line.remove(connection);
    }
  }

  /** A client was reset because it took too little of what waited for it. */
  public void resetTooSlow() {
    tooSlow++;
  }

  /** A client was reset because it took nothing of what waited for it. */
  public void resetStopped() {
    stopped++;
  }

  /** Whether no connection may begin another exchange. */
  public boolean isDraining() {
    return draining;
  }

  /** Connections whose closing has begun. */
  public int lingering() {
    return lingering.size();
  }

  /**
   * Whether idle connections wait for one more request, whose answer says that it is the last (RFC
   * 9112 §9.6): then no request crosses the end of its connection.
   */
  public boolean isLastRequestAwaited() {
    return draining && idleMayStayNanos > 0;
  }

  /** Whether a tunnel has to end, because the process wants to. */
  public boolean mustEndTunnels() {
    return draining && time.nowNanos() - drainingSinceNanos >= tunnelsMayStayNanos;
  }

  // For the loop

  /** Closes what has passed its deadline. */
  void sweep() {
    if (draining) {
      endLingering();
      closeWhatIsDone();
    }
    busy.forEach(ListedConnection::checkDeadline);
    heads.forEach(ListedConnection::checkDeadline);
    lingering.forEach(ListedConnection::checkDeadline);
    endIdle();
  }

  /** Ends what is idle too long, the longest idle first. */
  private void endIdle() {
    for (int i = 0; i < ENDED_PER_TURN; i++) {
      ListedConnection connection = due();
      if (connection == null) {
        return;
      }
      boolean early = age(connection) < configuredNanos(connection);
      if (connection.endIfIdle() && early) {
        endedEarly++;
      }
    }
    loop.execute(this::endIdle);
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

  /**
   * Connections end with their exchange.
   *
   * @param idleMayStay how long idle ones may wait for one more; zero ends them now
   */
  void drain(Duration idleMayStay) {
    time.look();
    draining = true;
    drainingSinceNanos = time.nowNanos();
    idleMayStayNanos = idleMayStay.toNanos();
    tunnelsMayStayNanos = idleMayStay.isZero() ? TUNNEL_DRAIN_NANOS : Long.MAX_VALUE;
    busy.forEach(ListedConnection::drain);
    drainIdle();
  }

  private void endLingering() {
    if (isLastRequestAwaited() && time.nowNanos() - drainingSinceNanos >= idleMayStayNanos) {
      idleMayStayNanos = 0;
      drainIdle();
    }
  }

  private void drainIdle() {
    silent.forEach(ListedConnection::drain);
    between.forEach(ListedConnection::drain);
  }

  /** Closes those whose client has the last answer whole: nothing is left to wait for. */
  void closeWhatIsDone() {
    lingering.forEach(ListedConnection::closeIfAllIsAcknowledged);
  }

  void closeAll() {
    busy.forEach(ListedConnection::close);
    heads.forEach(ListedConnection::close);
    lingering.forEach(ListedConnection::close);
    silent.forEach(ListedConnection::close);
    between.forEach(ListedConnection::close);
  }

  /** The send buffers of connections that have written, and can be tuned. */
  void forEachTunable(Consumer<TunableChannel> action) {
    Consumer<ListedConnection> tunable =
        connection -> {
          TunableChannel channel = connection.tunable;
          if (channel != null) {
            action.accept(channel);
          }
        };
    busy.forEach(tunable);
    heads.forEach(tunable);
    lingering.forEach(tunable);
    between.forEach(tunable);
  }

  /**
   * Closes the connection that is idle longest, at once; if none is, one whose last answer its
   * client has whole. On the loop, as a task: then what clients had sent by the last poll has been
   * read.
   *
   * @return false if there is none
   */
  public boolean displaceIdle() {
    time.look();
    return displaceLongestIdle() || displaceLingering();
  }

  /** Closes the connection that is idle longest, at once; false if there is none. */
  private boolean displaceLongestIdle() {
    while (true) {
      ListedConnection connection = longer(ifIdleFor(GRACE_NANOS, silent.first()), between.first());
      if (connection == null) {
        return false;
      }
      if (connection.closeIfIdle()) {
        displaced++;
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

  /** Those that have to stay come to the end: the next call looks at others. */
  private boolean displaceLingering() {
    for (int i = 0; i < LOOKS_FOR_ROOM; i++) {
      ListedConnection oldest = lingering.first();
      if (oldest == null) {
        return false;
      }
      if (oldest.closeIfAllIsAcknowledged()) {
        return true;
      }
      lingering.append(oldest);
    }
    return false;
  }

  // Counts

  /** Open connections. Any thread. */
  public int open() {
    return open;
  }

  /** Idle connections ended before the configured time-out, since they were many. Any thread. */
  public long endedEarly() {
    return endedEarly;
  }

  /** Idle connections closed to make room for others. Any thread. */
  public long displaced() {
    return displaced;
  }

  /** Octets of heap that heads take of which only a part has come. Any thread. */
  public long unfinishedHeadBytes() {
    return unfinishedHeadBytes;
  }

  /** Unfinished heads given up because others needed their room. Any thread. */
  public long displacedHeads() {
    return displacedHeads;
  }

  /** Connections reset because their client took too little of what waited for it. Any thread. */
  public long tooSlow() {
    return tooSlow;
  }

  /** Connections reset because their client took nothing of what waited for it. Any thread. */
  public long stopped() {
    return stopped;
  }
}
