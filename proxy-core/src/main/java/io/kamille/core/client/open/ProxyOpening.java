package io.kamille.core.client.open;

import io.kamille.core.client.Accepted;
import io.kamille.core.gate.ClientTable;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection from a load balancer, until its PROXY header is there: the header names the client
 * that all limits count for. Confined to its loop.
 */
final class ProxyOpening extends OpeningConnection {

  private final Accepted accepted;
  private final ClientTable clients;
  private final Consumer<ProxyHeader> next;
  private @Nullable ByteBuf begun;

  /**
   * A connection that goes on with {@code next}, which puts another handler into its pipeline, or
   * closes it.
   *
   * @param clients hears of headers that are refused
   */
  ProxyOpening(Spoken spoken, Accepted accepted, ClientTable clients, Consumer<ProxyHeader> next) {
    super(spoken.shared(), accepted.channel());
    this.accepted = accepted;
    this.clients = clients;
    this.next = next;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = joined(context, (ByteBuf) message);
    try {
      ProxyHeader header = ProxyHeader.read(in);
      if (header == null) {
        begun = in;
        return;
      }
      in.skipBytes(header.length());
      next.accept(header);
      leave();
      context.pipeline().remove(this);
    } catch (ProxyHeader.Malformed refused) {
      in.release();
      clients.refuseProxyHeader(
          accepted.client().getAddress().getHostAddress() + ": " + refused.getMessage());
      close();
      return;
    }
    if (in.isReadable()) {
      accepted.channel().pipeline().fireChannelRead(in);
    } else {
      in.release();
    }
  }

  /** What came before with this behind it: never more than a header and one read. */
  private ByteBuf joined(ChannelHandlerContext context, ByteBuf in) {
    ByteBuf before = begun;
    if (before == null) {
      return in;
    }
    begun = null;
    int length = before.readableBytes() + in.readableBytes();
    ByteBuf both = context.alloc().directBuffer(length).writeBytes(before).writeBytes(in);
    before.release();
    in.release();
    return both;
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (begun != null) {
      begun.release();
      begun = null;
    }
  }
}
