package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.http.StatusCode;
import io.kamille.core.socket.TunableChannel;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections to clients of one loop, how long each may do nothing, and how they end. Confined
 * to its loop, but for the counts.
 */
@SuppressWarnings("NonAtomicVolatileUpdate") // counts are written by this loop only
public final class LoopConnections {

  /*
   * Each connection keeps when it was last used, and whether it has said its first word. A sweep
   * asks each once a second what it does, and which time-out holds follows from that: no event
   * moves a connection from one state to another, and no timer is scheduled or cancelled for a
   * request. A second of imprecision matters to no limit we have. One that is in use at a sweep was
   * last used then.
   *
   * A connection that a sweep has found idle stays so until something comes on it. Until then a
   * sweep compares one number, and asks it nothing.
   *
   * Those that are idle longest are found by a walk over all, and many at once: whatever is used
   * later is not among those that are idle longer. So they are right until they are used up.
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

  /** Connections that are walked over for one that lingers. */
  private static final int STEPS_FOR_ROOM = 4_096;

  /** Idle connections that are ended in one turn. */
  private static final int ENDED_PER_TURN = 128;

  /** Connections that are looked at in one turn. */
  private static final int SWEPT_PER_TURN = 4_096;

  /** As many are walked over for each that has to yield. */
  private static final int FEW = 1_024;

  /**
   * With more, so much time for each connection lies between a walk that was in vain and the next.
   */
  private static final long NANOS_BETWEEN_WALKS = 1_000;

  /**
   * A client that is here for so short a time is about to speak, and yields its place to nobody.
   */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final EventLoop loop;
  private final LoopTime time;
  private final Supplier<ClientSettings> settings;
  private final long roomForHeadsBytes;
  private final IdleTimeout idleTimeout;
  private final List<ListedConnection> all = new ArrayList<>();
  private final Set<ListedConnection> heads = new LinkedHashSet<>();

  /** Those that were idle longest at the last walk, the longest last. */
  private final List<ListedConnection> longestIdle = new ArrayList<>();

  private long uses;
  private long walkedNanos;
  private boolean hasFound = true;
  private int lookedAt;
  private int lingering;
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
      EventLoop loop,
      LoopTime time,
      Supplier<ClientSettings> settings,
      long roomForHeadsBytes,
      IdleTimeout idleTimeout) {
    this.loop = loop;
    this.roomForHeadsBytes = roomForHeadsBytes;
    this.time = time;
    this.settings = settings;
    this.idleTimeout = idleTimeout;
    this.walkedNanos = time.exactNanos();
  }

  // For the connections

  /** A connection has come, and is idle. */
  public void begun(ListedConnection connection) {
    use(connection);
    connection.place = all.size();
    all.add(connection);
    open++;
  }

  /** A connection is closed. */
  public void gone(ListedConnection connection) {
    headIsOver(connection);
    lingering -= connection.isLingering ? 1 : 0;
    connection.isLingering = false;
    ListedConnection last = all.removeLast();
    if (connection.place < all.size()) {
      all.set(connection.place, last);
      last.place = connection.place;
    }
    open--;
  }

  /** A request has begun on this connection, or is over. */
  public void used(ListedConnection connection) {
    use(connection);
    connection.hasSpoken = true;
  }

  /** Two in one turn have the same time, and an order all the same. */
  private void use(ListedConnection connection) {
    connection.lastUsedNanos = time.nowNanos();
    connection.lastUse = ++uses;
  }

  /** The closing of a connection has begun. */
  public void lingers(ListedConnection connection) {
    headIsOver(connection);
    connection.isLingering = true;
    connection.isQuiet = false;
    lingering++;
  }

  /** More of a head has come, though not all: it takes so much of the heap now. */
  public void headGrew(ListedConnection connection, int headBytes) {
    if (connection.headBytes == 0) {
      heads.add(connection);
    }
    unfinishedHeadBytes += headBytes - connection.headBytes;
    connection.headBytes = headBytes;
    if (headBytes > roomForHeadsBytes) {
      connection.refuseHead(HeadsUnderWay.tooLarge());
    }
    while (unfinishedHeadBytes > roomForHeadsBytes) {
      displaceOldestHead();
    }
  }

  private void displaceOldestHead() {
    ListedConnection oldest = heads.iterator().next();
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

  /** The head of this connection is complete, or given up. */
  public void headIsOver(ListedConnection connection) {
    if (connection.headBytes != 0) {
      unfinishedHeadBytes -= connection.headBytes;
      connection.headBytes = 0;
      heads.remove(connection);
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
    return lingering;
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
    sweep(all.size());
  }

  /** Looks at those before this place: the last first, since one that goes is replaced by it. */
  private void sweep(int end) {
    time.update();
    int next = end;
    int ended = 0;
    while (next > 0 && end - next < SWEPT_PER_TURN && ended < ENDED_PER_TURN) {
      next--;
      ended += next < all.size() && checkDeadlines(all.get(next)) ? 1 : 0;
    }
    int rest = next;
    if (rest > 0) {
      loop.execute(() -> sweep(rest));
    } else {
      endEarly();
    }
  }

  /** Answers whether it has ended a connection that was idle too long. */
  private boolean checkDeadlines(ListedConnection connection) {
    if (!connection.isQuiet && !connection.isIdle()) {
      if (connection.isInUse()) {
        used(connection);
      }
      connection.checkDeadlines();
      return false;
    }
    connection.isQuiet = true;
    ClientSettings present = settings.get();
    Duration timeout = connection.hasSpoken ? present.idleTimeout() : present.headTimeout();
    if (age(connection) < timeout.toNanos()) {
      return false;
    }
    connection.end();
    return true;
  }

  /** While many are open, ends those that are idle longest before their time. */
  private void endEarly() {
    long configured = settings.get().idleTimeout().toNanos();
    for (int i = 0; i < ENDED_PER_TURN; i++) {
      long timeout = idleTimeout.nanos(configured, lingering);
      ListedConnection longest = timeout < configured ? longestIdle(0) : null;
      if (longest == null || age(longest) < timeout) {
        return;
      }
      longest.end();
      endedEarly++;
    }
    loop.execute(this::endEarly);
  }

  /**
   * Connections end with their exchange.
   *
   * @param idleMayStay how long idle ones may wait for one more; zero ends them now
   */
  void drain(Duration idleMayStay) {
    time.update();
    draining = true;
    drainingSinceNanos = time.nowNanos();
    idleMayStayNanos = idleMayStay.toNanos();
    tunnelsMayStayNanos = idleMayStay.isZero() ? TUNNEL_DRAIN_NANOS : Long.MAX_VALUE;
    drainAll();
  }

  private void endLingering() {
    if (isLastRequestAwaited() && time.nowNanos() - drainingSinceNanos >= idleMayStayNanos) {
      idleMayStayNanos = 0;
      drainAll();
    }
  }

  private void drainAll() {
    endEach(
        connection -> {
          connection.isQuiet = false;
          connection.drain();
        });
  }

  /** A fault ends its own connection, and keeps no other from its end. */
  private void endEach(Consumer<ListedConnection> action) {
    forEach(
        connection -> {
          try {
            action.accept(connection);
          } catch (RuntimeException | OutOfMemoryError bug) {
            connection.endBy(bug);
          }
        });
  }

  /** What an action closes is met no more. */
  private void forEach(Consumer<ListedConnection> action) {
    for (int i = all.size() - 1; i >= 0; i--) {
      if (i < all.size()) {
        action.accept(all.get(i));
      }
    }
  }

  /** Closes those whose client has the last answer whole: nothing is left to wait for. */
  void closeWhatIsDone() {
    if (lingering > 0) {
      endEach(
          connection -> {
            if (connection.isLingering) {
              connection.closeIfAllIsAcknowledged();
            }
          });
    }
  }

  void closeAll() {
    endEach(ListedConnection::close);
  }

  /** The send buffers that can be tuned. */
  void forEachTunable(Consumer<TunableChannel> action) {
    forEach(
        connection -> {
          TunableChannel channel = connection.tunable;
          if (channel != null) {
            action.accept(channel);
          }
        });
  }

  /**
   * Closes the connection that is idle longest, at once; if none is, one whose last answer its
   * client has whole. On the loop, as a task: then what clients had sent by the last poll has been
   * read.
   *
   * @return false if there is none
   */
  public boolean displaceIdle() {
    time.update();
    ListedConnection longest = longestIdle(GRACE_NANOS);
    if (longest == null) {
      return displaceLingering();
    }
    longest.closeIdle();
    displaced++;
    return true;
  }

  /** The connection that is idle longest; one that has not said a word, only after this time. */
  private @Nullable ListedConnection longestIdle(long graceNanos) {
    boolean areFew = all.size() <= FEW;
    long sinceWalk = time.nowNanos() - walkedNanos;
    ListedConnection longest = areFew || sinceWalk >= GRACE_NANOS ? null : knownIdle();
    boolean mayWalk = areFew || hasFound || sinceWalk >= all.size() * NANOS_BETWEEN_WALKS;
    if (longest == null && mayWalk) {
      findLongestIdle(graceNanos);
      longest = knownIdle();
    }
    return longest;
  }

  private @Nullable ListedConnection knownIdle() {
    while (!longestIdle.isEmpty()) {
      ListedConnection longest = longestIdle.removeLast();
      if (longest.lastUse == longest.knownUse && longest.isIdle()) {
        return longest;
      }
    }
    return null;
  }

  private void findLongestIdle(long graceNanos) {
    int most = ENDED_PER_TURN + all.size() / 16;
    PriorityQueue<ListedConnection> found =
        new PriorityQueue<>((one, other) -> Long.compare(other.lastUse, one.lastUse));
    for (ListedConnection connection : all) {
      ListedConnection latest = found.size() < most ? null : found.peek();
      if ((connection.hasSpoken || age(connection) >= graceNanos)
          && (latest == null || connection.lastUse < latest.lastUse)
          && connection.isIdle()) {
        found.add(connection);
        if (latest != null) {
          found.remove();
        }
      }
    }
    hasFound = !found.isEmpty();
    longestIdle.clear();
    for (ListedConnection next = found.poll(); next != null; next = found.poll()) {
      next.knownUse = next.lastUse;
      longestIdle.add(next);
    }
    walkedNanos = time.nowNanos();
  }

  private long age(ListedConnection connection) {
    return time.nowNanos() - connection.lastUsedNanos;
  }

  /** Whether nothing was asked of this connection for so long. */
  public boolean isUnusedFor(ListedConnection connection, Duration time) {
    return age(connection) >= time.toNanos();
  }

  /** The next call looks at others. */
  private boolean displaceLingering() {
    int looks = lingering == 0 ? 0 : LOOKS_FOR_ROOM;
    for (int i = Math.min(all.size(), STEPS_FOR_ROOM); i > 0 && looks > 0; i--) {
      lookedAt = lookedAt + 1 < all.size() ? lookedAt + 1 : 0;
      ListedConnection connection = all.get(lookedAt);
      if (connection.isLingering) {
        if (connection.closeIfAllIsAcknowledged()) {
          return true;
        }
        looks--;
      }
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
