package io.kamille.core.client.open;

import io.kamille.core.client.Accepted;
import io.kamille.core.client.ListedConnection;
import io.kamille.core.client.ServerShard;
import io.kamille.core.exchange.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * A connection of which it is not known yet what is spoken on it. Its loop takes it for one whose
 * first request is awaited: it has as long, and it yields to others. Confined to its loop.
 */
abstract class OpeningConnection extends ListedConnection {

  private static final System.Logger LOG = System.getLogger("kamille.server");

  final Accepted accepted;
  final Channel channel;
  private final ServerShard server;
  private boolean isListed;
  private @Nullable ByteBuf begun;

  OpeningConnection(ServerShard server, Accepted accepted) {
    this.server = server;
    this.accepted = accepted;
    this.channel = accepted.channel();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    server.time().update();
    server.connections().begun(this);
    isListed = true;
  }

  /** What was kept with this behind it: never more than a header and one read. Gives ownership. */
  final ByteBuf behindKept(ByteBuf in) {
    ByteBuf before = begun;
    if (before == null) {
      return in;
    }
    begun = null;
    int length = before.readableBytes() + in.readableBytes();
    ByteBuf both = channel.alloc().directBuffer(length).writeBytes(before).writeBytes(in);
    before.release();
    in.release();
    return both;
  }

  /** Keeps a beginning that is too short to tell. Takes ownership. */
  final void keep(ByteBuf in) {
    begun = in;
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (begun != null) {
      begun.release();
      begun = null;
    }
  }

  /** From now on, this is spoken. */
  final void becomes(ChannelHandler connection) {
    leave();
    channel.pipeline().replace(this, null, connection);
  }

  /** It is in no list of its loop any more. */
  void leave() {
    if (isListed) {
      isListed = false;
      server.connections().gone(this);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    leave();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ChannelInputShutdownEvent.INSTANCE) {
      close();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    LOG.log(Level.DEBUG, () -> "no connection with " + Accepted.shown(channel) + ": " + cause);
    close();
  }

  @Override
  protected void endBy(Throwable bug) {
    LOG.log(Level.ERROR, "a connection ends by a fault of ours", bug);
    close();
  }

  @Override
  protected void refuseHead(Failure why) {
    close();
  }

  @Override
  protected void drain() {
    if (!server.connections().isLastRequestAwaited()) {
      close();
    }
  }

  /** Without a word: what is there to say, nobody could read yet. */
  @Override
  protected void close() {
    leave();
    channel.pipeline().firstContext().close();
  }

  @Override
  protected boolean isIdle() {
    return isListed;
  }
}
