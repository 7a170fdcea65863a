package io.kamille.core.exchange;

import io.kamille.core.http.RequestHead;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;

/** An exchange as its connection has it, which serves one request after the other. */
public final class ConnectionExchange extends Exchange {

  /** An exchange for the connection between these two addresses. */
  public ConnectionExchange(
      EventLoop loop,
      InetSocketAddress client,
      InetSocketAddress local,
      RequestHead request,
      RequestContent content,
      Reply reply) {
    super(loop, client, local, request, content, reply);
  }

  /** Begins anew with another request on the same loop. */
  public void reuse(
      InetSocketAddress client,
      InetSocketAddress local,
      RequestHead request,
      RequestContent content,
      Reply reply) {
    this.client = client;
    this.local = local;
    this.request = request;
    this.content = content;
    this.reply = reply;
    notes().clear();
  }
}
