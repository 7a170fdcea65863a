package io.kamille.core.client.open;

import io.kamille.core.client.IdleTimeout;
import io.kamille.core.client.ServerShard;
import io.kamille.core.loop.Seldom;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * How many connections of clients may be open over all loops, and what happens when there are more:
 * a new one takes the place of one that is idle on its loop, or is closed. Near the limit, it makes
 * the idle time-out shorter. Any thread.
 */
public final class ConnectionLimit implements IdleTimeout {

  /*
   * A connection over the limit is not read from until room is made for it, and that is a task: by
   * then the loop has read what this poll found, and knows which connections are idle. For a turn,
   * those that wait for room are open over the limit.
   */
  private static final System.Logger LOG = System.getLogger("kamille.server");
  private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final String name;
  private final AtomicInteger open = new AtomicInteger();
  private final LongAdder refused = new LongAdder();
  private final LongAdder untold = new LongAdder();
  private final Seldom line = new Seldom(SILENCE_NANOS);
  private final LongAdder acceptFailures = new LongAdder();
  private volatile Bounds bounds;

  private record Bounds(int limit, IdleTimeoutGovernor governor) {}

  /**
   * Lets {@code limit} connections be open at a time.
   *
   * @param name what the log calls this limit
   */
  public ConnectionLimit(String name, int limit, IdleTimeoutGovernor governor) {
    this.name = name;
    bounds = new Bounds(limit, governor);
  }

  /** New bounds; connections that are open stay. */
  public void limit(int limit, IdleTimeoutGovernor governor) {
    bounds = new Bounds(limit, governor);
  }

  /**
   * A connection has come to this loop: it begins, now or once there is room, or is closed. {@link
   * #leave} follows once it is closed.
   */
  void admit(SocketChannel channel, ServerShard shard, Runnable begin) {
    boolean isWithin = open.incrementAndGet() <= bounds.limit;
    if (isWithin) {
      begin.run();
    } else {
      channel.config().setAutoRead(false);
      shard.loop().execute(() -> makeRoom(channel, shard, begin));
    }
  }

  /** A connection that was admitted is closed. */
  void leave() {
    open.decrementAndGet();
  }

  private void makeRoom(SocketChannel channel, ServerShard shard, Runnable begin) {
    if (!channel.isActive()) {
      return;
    }
    if (open.get() > bounds.limit && !shard.connections().displaceIdle()) {
      String line = refused(System.nanoTime());
      channel.close();
      if (line != null) {
        LOG.log(Level.WARNING, line);
      }
    } else {
      begin.run();
      channel.config().setAutoRead(true);
    }
  }

  /** Counts a connection that was closed for want of room; null if no line of the log is due. */
  @Nullable String refused(long nowNanos) {
    refused.increment();
    untold.increment();
    if (!line.isDue(nowNanos)) {
      return null;
    }
    return ("closed " + untold.sumThenReset() + " new connection(s): " + name + " is ")
        + (bounds.limit + ", as many are open, and none is idle");
  }

  /** What stands behind Netty's acceptor of one loop: it makes room for want of descriptors. */
  ChannelHandler acceptTrouble(ServerShard shard) {
    return new AcceptTrouble(shard);
  }

  @Override
  public long nanos(long configuredNanos, int leaving) {
    Bounds now = bounds;
    return now.governor.idleTimeoutNanos(open.get() - leaving, now.limit, configuredNanos);
  }

  /** Connections open now. */
  public int open() {
    return open.get();
  }

  /** Connections closed as soon as they came because there were too many. */
  public long refused() {
    return refused.sum();
  }

  /** Attempts to accept a connection that failed, mostly for want of a file descriptor. */
  public long acceptFailures() {
    return acceptFailures.sum();
  }

  /** Is told when a connection cannot be accepted. Confined to its loop. */
  private final class AcceptTrouble extends ChannelInboundHandlerAdapter {

    /*
     * The acceptor does not accept for a second then, and tries again; who wants to connect waits in
     * the kernel's queue meanwhile. In this second connections that are idle longest give back their
     * descriptors, a few at a time. The log hears of it once a minute.
     */
    private static final int YIELDING = 16;

    private final ServerShard shard;
    private final Seldom told = new Seldom(SILENCE_NANOS);

    AcceptTrouble(ServerShard shard) {
      this.shard = shard;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      acceptFailures.increment();
      if (told.isDue(System.nanoTime())) {
        LOG.log(
            Level.WARNING,
            "connections cannot be accepted, idle ones are closed to make room: {0}",
            cause.getMessage());
      }
      shard.loop().execute(this::makeRoom);
    }

    private void makeRoom() {
      for (int i = 0; i < YIELDING && shard.connections().displaceIdle(); i++) {
        // Each gives back a descriptor.
      }
    }
  }
}
