package io.kamille.core.client;

import io.kamille.core.socket.TunableChannel;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The connections to clients of one loop, each in one list by what it does, and how they end.
 * Confined to its loop, but for the counts.
 */
public final class LoopConnections {

  /*
   * Deadlines are fields of the connections, looked at once a second: no timer is scheduled or
   * cancelled for a request. A second of imprecision matters to no limit we have. Idle connections
   * lie in the order in which they became idle, so only those that are due are looked at. Those
   * within a head are among the unfinished heads, those whose closing has begun linger, and all
   * others are busy.
   */

  /**
   * How long tunnels may go on once no other exchange begins and somebody waits for our end: they
   * know no end of their own, and would hold a drain up for as long as it may last. Behind another
   * process, that last is what they have.
   */
  private static final long TUNNEL_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** How many of those that linger are looked at for a new connection: each costs a system call. */
  private static final int LOOKS_FOR_ROOM = 16;

  private final LoopTime time;
  private final ConnectionList busy = new ConnectionList();
  private final ConnectionList lingering = new ConnectionList();
  private final IdleConnections idle;
  private final UnfinishedHeads heads;
  private boolean draining;
  private long drainingSinceNanos;
  private long idleMayStayNanos;
  private long tunnelsMayStayNanos;
  private volatile int open;
  private volatile long tooSlow;
  private volatile long stopped;

  LoopConnections(
      EventLoop loop, LoopTime time, Supplier<ClientSettings> settings, IdleTimeout idleTimeout) {
    this.time = time;
    this.idle = new IdleConnections(loop, time, settings, idleTimeout, lingering);
    this.heads = new UnfinishedHeads(settings);
  }

  // For the connections

  /** A connection has come, and is idle. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  public void begun(ListedConnection connection) {
    idle.begun(connection);
    open++;
  }

  /** A connection is closed. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  public void gone(ListedConnection connection) {
    heads.over(connection);
    ConnectionList.remove(connection);
    open--;
  }

  /** A connection has something under way, and a deadline. */
  public void busy(ListedConnection connection) {
    busy.append(connection);
  }

  /** Whether it is among the busy ones. */
  public boolean isBusy(ListedConnection connection) {
    return busy.holds(connection);
  }

  /** A connection waits for its next request. */
  public void idle(ListedConnection connection) {
    idle.over(connection);
  }

  /** The closing of a connection has begun. */
  public void lingers(ListedConnection connection) {
    heads.over(connection);
    lingering.append(connection);
  }

  /** More of a head has come, though not all: it takes so much of the heap now. */
  public void headGrew(ListedConnection connection, int headBytes) {
    heads.grew(connection, headBytes);
  }

  /** The head of this connection is complete, or given up; it is in no list then. */
  public void headIsOver(ListedConnection connection) {
    heads.over(connection);
  }

  /** A client was reset because it took too little of what waited for it. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  public void resetTooSlow() {
    tooSlow++;
  }

  /** A client was reset because it took nothing of what waited for it. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
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
    idle.sweep();
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
    idle.drain();
  }

  private void endLingering() {
    if (isLastRequestAwaited() && time.nowNanos() - drainingSinceNanos >= idleMayStayNanos) {
      idleMayStayNanos = 0;
      idle.drain();
    }
  }

  /** Closes those whose client has the last answer whole: nothing is left to wait for. */
  void closeWhatIsDone() {
    lingering.forEach(ListedConnection::closeIfAllIsAcknowledged);
  }

  void closeAll() {
    busy.forEach(ListedConnection::close);
    heads.forEach(ListedConnection::close);
    lingering.forEach(ListedConnection::close);
    idle.closeAll();
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
    idle.forEachBetween(tunable);
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
    return idle.displace() || displaceLingering();
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
    return idle.endedEarly();
  }

  /** Idle connections closed to make room for others. Any thread. */
  public long displaced() {
    return idle.displaced();
  }

  /** Octets of heap that heads take of which only a part has come. Any thread. */
  public long unfinishedHeadBytes() {
    return heads.heapBytes();
  }

  /** Unfinished heads given up because others needed their room. Any thread. */
  public long displacedHeads() {
    return heads.displaced();
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
