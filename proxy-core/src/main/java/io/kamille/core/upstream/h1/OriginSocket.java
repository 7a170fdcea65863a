package io.kamille.core.upstream.h1;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The socket of an origin: the last handler of its channel's pipeline, which can be kept from
 * reading. Confined to its loop.
 */
final class OriginSocket extends ChannelInboundHandlerAdapter {

  /** Who is told what happens here. */
  interface Owner {

    /** Octets have come. Borrows the buffer. */
    void read(ByteBuf in);

    /** A burst of reads is over. */
    void burstEnds();

    /** The origin takes more again. */
    void writable();

    /** The origin has closed its side; only where half-closing is allowed. */
    void inputClosed();

    /** The socket broke, which its close will confirm; or a fault of ours. */
    void caught(Throwable cause);

    /** The channel is closed. */
    void inactive();
  }

  private final Owner owner;
  private final OriginDeadlines deadlines;
  private @Nullable Channel channel;
  private @Nullable OriginOutput output;
  private boolean paused;

  /** A socket still to be opened; {@code deadlines} hear that something moved. */
  OriginSocket(Owner owner, OriginDeadlines deadlines) {
    this.owner = owner;
    this.deadlines = deadlines;
  }

  Channel channel() {
    return Objects.requireNonNull(channel);
  }

  OriginOutput output() {
    return Objects.requireNonNull(output);
  }

  /** Reads no more. */
  void pause() {
    if (!paused) {
      paused = true;
      channel().config().setAutoRead(false);
    }
  }

  /** Reads again. */
  void resume() {
    if (paused) {
      paused = false;
      channel().config().setAutoRead(true);
    }
  }

  boolean isPaused() {
    return paused;
  }

  /** The end of what the origin sends is not the end of the connection any more. */
  void allowHalfClosure() {
    channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
  }

  /**
   * Whether the last read of the burst filled its buffer. Then the burst was cut short, by a pause
   * or because it was long, and what lies behind the response may not have been read yet.
   */
  boolean mayHoldMore() {
    var reads = channel().unsafe().recvBufAllocHandle();
    return reads.lastBytesRead() > 0 && reads.lastBytesRead() == reads.attemptedBytesRead();
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    Channel added = context.channel();
    channel = added;
    output = new OriginOutput(added, deadlines);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    deadlines.moved();
    try {
      owner.read(in);
    } finally {
      in.release();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    owner.burstEnds();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (context.channel().isWritable()) {
      deadlines.moved();
      owner.writable();
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ChannelInputShutdownEvent.INSTANCE) {
      owner.inputClosed();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    owner.caught(cause);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    owner.inactive();
  }
}
