package io.kamille.core.server.h1;

import io.kamille.core.admission.Overload;
import io.kamille.core.admission.Shedder;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.socket.TcpOutput;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What the HTTP/1.1 connections of one loop share: settings, scratch, spare exchanges, and the
 * sweep that enforces deadlines. Confined to its loop, but for the counts.
 */
public final class H1Loop {

  /*
   * Deadlines are fields of the connections, looked at once a second: no timer is scheduled or
   * cancelled for a request. A second of imprecision matters to no limit we have. Idle connections
   * lie in the order in which they became idle, so only those that are due are looked at; those within
   * a head are among the `heads`, those whose closing has begun are `lingering`, and all others are
   * `busy`.
   */
  private static final long SWEEP_MILLIS = 1000;
  private static final int MAX_SPARE = 64;

  /** How many of those that linger are looked at for a new connection: each costs a system call. */
  private static final int LOOKS_FOR_ROOM = 16;

  final EventLoop loop;
  final String name;
  final ExchangeHandler handler;
  final ExchangeObserver observer;
  final LongSupplier nanoClock;
  final LongSupplier epochSeconds;
  final Shedder shedder;
  private final byte[][] shedLines = new byte[Shedder.MOST_RETRY_AFTER_SECONDS][];
  final HeadWriter writer = new HeadWriter();
  final TcpOutput output = new TcpOutput();
  final IdleConnections idle;
  final UnfinishedHeads heads = new UnfinishedHeads(this);
  final HeadsUnderWay headsUnderWay = new HeadsUnderWay(this);
  final ConnectionList busy = new ConnectionList();
  final ConnectionList lingering = new ConnectionList();

  private final ArrayDeque<ClientExchange> spare = new ArrayDeque<>(MAX_SPARE);
  private H1Settings settings;
  private long nowNanos;
  private boolean draining;
  private int leaving;
  private volatile int connections;
  private volatile long tooSlow;
  private volatile long stopped;

  /**
   * The shared part for {@code loop}.
   *
   * @param name how this proxy calls itself in {@code Proxy-Status}
   * @param idleTimeout given the configured one
   * @param nanoClock monotonic nanoseconds
   * @param epochSeconds wall clock for the {@code Date} of answers that lack one
   * @param shedder told of every read
   */
  public H1Loop(
      EventLoop loop,
      String name,
      H1Settings settings,
      IdleTimeout idleTimeout,
      ExchangeHandler handler,
      ExchangeObserver observer,
      LongSupplier nanoClock,
      LongSupplier epochSeconds,
      Shedder shedder) {
    this.loop = loop;
    this.name = name;
    this.settings = settings;
    this.idle = new IdleConnections(this, idleTimeout);
    this.handler = handler;
    this.observer = observer;
    this.nanoClock = nanoClock;
    this.epochSeconds = epochSeconds;
    this.shedder = shedder;
    for (int i = 0; i < shedLines.length; i++) {
      shedLines[i] = shedLines(name, i + 1);
    }
  }

  /** The field lines of an answer to a request that is shed. Borrowed. */
  byte[] shedLines(int retryAfterSeconds) {
    return shedLines[retryAfterSeconds - 1];
  }

  private static byte[] shedLines(String name, int retryAfterSeconds) {
    String lines =
        "Content-Length: 0\r\nCache-Control: no-store\r\nRetry-After: "
            + retryAfterSeconds
            + "\r\nProxy-Status: "
            + Overload.SHED.proxyStatus(name)
            + "\r\n";
    return lines.getBytes(StandardCharsets.ISO_8859_1);
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

  /** A client is read from. */
  void read() {
    lookAtClock();
    shedder.read(nowNanos);
  }

  /** The loop comes, outside a read, to a request that could have been looked at since then. */
  void comesTo(long readySinceNanos) {
    lookAtClock();
    shedder.comesTo(readySinceNanos, nowNanos);
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
          busy.forEach(ClientConnection::drain);
          idle.drain();
        });
  }

  /** Closes all connections at once. Any thread. */
  public void closeAll() {
    loop.execute(
        () -> {
          busy.forEach(ClientConnection::close);
          heads.forEach(ClientConnection::close);
          lingering.forEach(ClientConnection::close);
          idle.closeAll();
        });
  }

  boolean isDraining() {
    return draining;
  }

  /**
   * Closes the connection that is idle longest, at once; if none is, one whose last answer its
   * client has whole. On the loop, as a task: then what clients had sent by the last poll has been
   * read.
   *
   * @return false if there is none
   */
  public boolean displaceIdle() {
    lookAtClock();
    return idle.displace() || displaceLingering();
  }

  /** Those that have to stay come to the end: the next call looks at others. */
  private boolean displaceLingering() {
    for (int i = 0; i < LOOKS_FOR_ROOM; i++) {
      ClientConnection oldest = lingering.first();
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

  /** Octets of heap that the large heads of requests under way take. Any thread. */
  public long headBytesUnderWay() {
    return headsUnderWay.heapBytes();
  }

  /** Requests with a large head that were refused because there was no room. Any thread. */
  public long refusedHeads() {
    return headsUnderWay.refused();
  }

  /** Connections reset because their client took too little of what waited for it. Any thread. */
  public long tooSlow() {
    return tooSlow;
  }

  /** Connections reset because their client took nothing of what waited for it. Any thread. */
  public long stopped() {
    return stopped;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  void resetTooSlow() {
    tooSlow++;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  void resetStopped() {
    stopped++;
  }

  /** Connections whose closing has begun. */
  int leaving() {
    return leaving;
  }

  /** The closing of a connection has begun, or has come to its end. */
  void leaving(int change) {
    leaving += change;
  }

  /** Closes what has passed its deadline. */
  void sweep() {
    lookAtClock();
    shedder.sweep(nowNanos);
    busy.forEach(ClientConnection::checkDeadline);
    heads.forEach(ClientConnection::checkDeadline);
    lingering.forEach(ClientConnection::checkDeadline);
    idle.sweep();
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  void add(ClientConnection connection) {
    idle.begun(connection);
    connections++;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  void remove(ClientConnection connection) {
    heads.over(connection);
    ConnectionList.remove(connection);
    connections--;
  }

  /** An exchange for the next request of {@code connection}. */
  ClientExchange take(ClientConnection connection) {
    ClientExchange used = spare.pollLast();
    ClientExchange exchange = used == null ? new ClientExchange(this, settings.head()) : used;
    exchange.begin(connection);
    return exchange;
  }

  /**
   * Takes back an exchange that nobody can know of any more, unless its limits are old ones or a
   * large head has made it large.
   */
  void giveBack(ClientExchange exchange) {
    if (spare.size() < MAX_SPARE
        && exchange.headBytes() <= HeadsUnderWay.LARGE_BYTES
        && exchange.limits().equals(settings.head())) {
      exchange.forget();
      spare.addLast(exchange);
    }
  }
}
