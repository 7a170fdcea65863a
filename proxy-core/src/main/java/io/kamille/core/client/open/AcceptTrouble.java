package io.kamille.core.client.open;

import io.kamille.core.client.ServerShard;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * What is done when a connection cannot be accepted, mostly for want of a file descriptor. Stands
 * behind Netty's acceptor. Confined to its loop.
 */
final class AcceptTrouble extends ChannelInboundHandlerAdapter {

  /*
   * The acceptor does not accept for a second then, and tries again; who wants to connect waits in
   * the kernel's queue meanwhile. In this second connections that are idle longest give back their
   * descriptors, a few at a time. The log hears of it once a minute.
   */
  private static final System.Logger LOG = System.getLogger("kamille.server");
  private static final int YIELDING = 16;
  private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final ServerShard shared;
  private final ConnectionLimiter limiter;
  private boolean hasTold;
  private long toldNanos;

  AcceptTrouble(ServerShard shared, ConnectionLimiter limiter) {
    this.shared = shared;
    this.limiter = limiter;
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    limiter.failToAccept();
    tell(cause, System.nanoTime());
    shared.loop().execute(this::makeRoom);
  }

  private void tell(Throwable cause, long nowNanos) {
    if (!hasTold || nowNanos - toldNanos >= SILENCE_NANOS) {
      hasTold = true;
      toldNanos = nowNanos;
      LOG.log(
          Level.WARNING,
          "connections cannot be accepted, idle ones are closed to make room: {0}",
          cause.getMessage());
    }
  }

  private void makeRoom() {
    for (int i = 0; i < YIELDING && shared.connections().displaceIdle(); i++) {
      // Each gives back a descriptor.
    }
  }
}
