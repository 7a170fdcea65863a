package io.kamille.core.origin.wire;

import io.kamille.core.tls.OriginTlsHandler;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The socket of an origin: the last handler of its channel's pipeline, which can be kept from
 * reading. Confined to its loop.
 */
public final class OriginSocket extends ChannelInboundHandlerAdapter {

  /** Who is told what happens here. */
  public interface Owner {

    /** It stands in the pipeline of a channel, which may not be open yet. */
    default void added(ChannelHandlerContext context) {}

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
  private final Runnable moved;
  private @Nullable Channel channel;
  private @Nullable OriginOutput output;
  private @Nullable OriginTlsHandler tls;
  private boolean tlsEnded;
  private boolean paused;

  /** A socket still to be opened; {@code moved} hears of octets in either direction. */
  public OriginSocket(Owner owner, Runnable moved) {
    this.owner = owner;
    this.moved = moved;
  }

  public Channel channel() {
    return Objects.requireNonNull(channel);
  }

  public OriginOutput output() {
    return Objects.requireNonNull(output);
  }

  /** Reads no more. */
  public void pause() {
    if (!paused) {
      paused = true;
      channel().config().setAutoRead(false);
    }
  }

  /** Reads again. */
  public void resume() {
    if (paused) {
      paused = false;
      channel().config().setAutoRead(true);
    }
  }

  public boolean isPaused() {
    return paused;
  }

  /** The end of what the origin sends is not the end of the connection any more. */
  public void allowHalfClosure() {
    channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
  }

  /** Whether more can be sent and awaited. */
  public boolean isOpen() {
    return !tlsEnded && channel().isActive();
  }

  /**
   * Whether the end of the connection was the origin's doing: within TLS anybody can end the
   * connection, but only the origin can say so (RFC 8446 §6.1).
   */
  public boolean isEndGenuine() {
    return tls == null || tlsEnded;
  }

  /**
   * Whether the last read of the burst filled its buffer. Then the burst was cut short, by a pause
   * or because it was long, and what lies behind the response may not have been read yet.
   */
  public boolean mayHoldMore() {
    var reads = channel().unsafe().recvBufAllocHandle();
    return (reads.lastBytesRead() > 0 && reads.lastBytesRead() == reads.attemptedBytesRead())
        || (tls != null && (tlsEnded || tls.holdsMore()));
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    Channel added = context.channel();
    channel = added;
    tls = context.pipeline().get(OriginTlsHandler.class);
    output = new OriginOutput(added, moved);
    owner.added(context);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    moved.run();
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
      moved.run();
      owner.writable();
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ChannelInputShutdownEvent.INSTANCE) {
      owner.inputClosed();
    } else if (event == SslCloseCompletionEvent.SUCCESS) {
      tlsEnded();
    } else if (event instanceof SslHandshakeCompletionEvent handshake) {
      tls = context.pipeline().get(OriginTlsHandler.class);
      if (!handshake.isSuccess()) {
        owner.caught(handshake.cause());
      }
    }
  }

  /** The origin has said within TLS that nothing more comes. The socket's end may never do so. */
  private void tlsEnded() {
    tlsEnded = true;
    if (Boolean.TRUE.equals(channel().config().getOption(ChannelOption.ALLOW_HALF_CLOSURE))) {
      owner.inputClosed();
    } else {
      // Past TLS, which would wait until all that is queued has left.
      channel().pipeline().firstContext().close();
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
