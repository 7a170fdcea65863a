package io.kamille.core.client.open;

import io.kamille.core.client.Accepted;
import io.kamille.core.client.ServerShard;
import io.kamille.core.gate.ClientTable;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.function.Consumer;

/**
 * A connection from a load balancer, until its PROXY header is there: the header names the client
 * that all limits count for. Confined to its loop.
 */
final class ProxyOpening extends OpeningConnection {

  private final ClientTable clients;
  private final Consumer<ProxyHeader> next;

  /**
   * A connection that goes on with {@code next}, which puts another handler into its pipeline, or
   * closes it.
   *
   * @param clients hears of headers that are refused
   */
  ProxyOpening(
      ServerShard server, Accepted accepted, ClientTable clients, Consumer<ProxyHeader> next) {
    super(server, accepted);
    this.clients = clients;
    this.next = next;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = behindKept((ByteBuf) message);
    try {
      ProxyHeader header = ProxyHeader.read(in);
      if (header == null) {
        keep(in);
        return;
      }
      in.skipBytes(header.length());
      next.accept(header);
      leave();
      context.pipeline().remove(this);
    } catch (ProxyHeader.Malformed refused) {
      in.release();
      clients.refuseProxyHeader(
          accepted.client().getAddress(), String.valueOf(refused.getMessage()));
      close();
      return;
    }
    if (in.isReadable()) {
      channel.pipeline().fireChannelRead(in);
    } else {
      in.release();
    }
  }
}
