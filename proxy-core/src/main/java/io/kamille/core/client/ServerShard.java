package io.kamille.core.client;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.gate.Shedder;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.socket.TcpOutput;
import io.kamille.core.socket.TcpSampler;
import io.kamille.core.socket.TunableChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The server's part on one loop: what all its connections to clients share, whatever version of
 * HTTP they speak. Confined to its loop, unless a method says more.
 */
public final class ServerShard {

  private static final System.Logger LOG = System.getLogger("kamille.server");
  private static final long SWEEP_MILLIS = 1000;
  private static final long DRAIN_LOOK_MILLIS = 50;

  private final EventLoop loop;
  private final ExchangeHandler handler;
  private final ExchangeObserver observer;
  private final LongSupplier epochSeconds;
  private final Shedder shedder;
  private final LoopTime time;
  private final PendingFlushes flushes;
  private final LoopConnections connections;
  private final HeadsUnderWay headsUnderWay;
  private final TcpOutput output = new TcpOutput();
  private ClientSettings settings;
  private @Nullable TcpSampler sampler;

  /**
   * The part for {@code loop}.
   *
   * @param roomForHeadsBytes of heap that the heads take of which the loop has only a part; beyond
   *     it, the oldest is 408. As much again is for the large heads of its requests under way;
   *     beyond it, a new one is 503
   * @param idleTimeout given the configured one
   * @param nanoClock monotonic nanoseconds
   * @param epochSeconds wall clock for the {@code Date} of answers that lack one
   * @param shedder told of every read
   */
  public ServerShard(
      EventLoop loop,
      ClientSettings settings,
      long roomForHeadsBytes,
      IdleTimeout idleTimeout,
      ExchangeHandler handler,
      ExchangeObserver observer,
      LongSupplier nanoClock,
      LongSupplier epochSeconds,
      Shedder shedder) {
    this.loop = loop;
    this.settings = settings;
    this.handler = handler;
    this.observer = observer;
    this.epochSeconds = epochSeconds;
    this.shedder = shedder;
    this.time = new LoopTime(nanoClock);
    this.flushes = new PendingFlushes(loop);
    this.headsUnderWay = new HeadsUnderWay(roomForHeadsBytes);
    this.connections =
        new LoopConnections(loop, time, this::settings, roomForHeadsBytes, idleTimeout);
  }

  /** Has its connections' send buffers tuned. Before {@link #start}; once. */
  public void sampledBy(TcpSampler sampler) {
    this.sampler = sampler;
    sampler.connections(connections::forEachTunable);
  }

  /** The send buffer of a connection that begins; null if nobody tunes it. */
  public @Nullable TunableChannel opened(Channel channel, InetAddress client, String protocol) {
    return sampler == null ? null : sampler.opened(channel, client, protocol);
  }

  /** Begins to look at deadlines, once a second. Any thread; once. */
  public void start() {
    Runnable sweep = new SteadyTask(LOG, "connections were not looked at", this::sweep);
    loop.scheduleWithFixedDelay(sweep, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Closes what has passed its deadline. On the loop. */
  public void sweep() {
    time.update();
    shedder.sweep(time.nowNanos());
    connections.sweep();
  }

  /**
   * Lets connections finish their exchange; each is gone as soon as its client has the last answer.
   * Tunnels end some seconds later. Any thread; once.
   *
   * @param idleMayStay how long an idle connection may wait for one more request; zero ends it now
   */
  public void drain(Duration idleMayStay) {
    loop.execute(() -> connections.drain(idleMayStay));
    loop.scheduleWithFixedDelay(
        connections::closeWhatIsDone, DRAIN_LOOK_MILLIS, DRAIN_LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Closes all connections at once. Any thread. */
  public void closeAll() {
    loop.execute(connections::closeAll);
  }

  /**
   * New settings, for what begins from now on. Any thread.
   *
   * @return done once the loop goes by them: it may look at a socket before it looks at its tasks
   */
  public Future<?> settings(ClientSettings settings) {
    return loop.submit(() -> this.settings = settings);
  }

  public ClientSettings settings() {
    return settings;
  }

  public EventLoop loop() {
    return loop;
  }

  /** The first station. */
  public ExchangeHandler handler() {
    return handler;
  }

  /** Who is told of the end of each exchange. */
  public ExchangeObserver observer() {
    return observer;
  }

  public Shedder shedder() {
    return shedder;
  }

  public LoopConnections connections() {
    return connections;
  }

  public HeadsUnderWay headsUnderWay() {
    return headsUnderWay;
  }

  /** For one look at a time at what the kernel has sent. */
  public TcpOutput output() {
    return output;
  }

  /** What is flushed at the end of a turn. */
  PendingFlushes flushes() {
    return flushes;
  }

  public LoopTime time() {
    return time;
  }

  /** The time of the last look at the clock, monotonic. */
  public long nowNanos() {
    return time.nowNanos();
  }

  /** Wall clock. */
  public long epochSeconds() {
    return epochSeconds.getAsLong();
  }

  /** A client is read from. */
  public void read() {
    time.update();
    shedder.read(time.nowNanos());
  }

  /** The loop comes, outside a read, to a request that could have been looked at since then. */
  public void comesTo(long readySinceNanos) {
    time.update();
    shedder.comesTo(readySinceNanos, time.nowNanos());
  }
}
