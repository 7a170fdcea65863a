package io.kamille.core.exchange;

import io.kamille.core.http.RequestHead;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;

/**
 * One request and its reply as a station sees them, with what it may know of the connection they
 * came by. A station changes nothing of it: those behind it get another one by {@link #behind}.
 * Confined to its loop.
 */
public sealed class Exchange permits ConnectionExchange {

  private final EventLoop loop;
  private final ExchangeNotes notes;
  InetSocketAddress client;
  InetSocketAddress local;
  RequestHead request;
  RequestContent content;
  Reply reply;

  /** An exchange for the connection between these two addresses. */
  public Exchange(
      EventLoop loop,
      InetSocketAddress client,
      InetSocketAddress local,
      RequestHead request,
      RequestContent content,
      Reply reply) {
    this(loop, new ExchangeNotes(), client, local, request, content, reply);
  }

  private Exchange(
      EventLoop loop,
      ExchangeNotes notes,
      InetSocketAddress client,
      InetSocketAddress local,
      RequestHead request,
      RequestContent content,
      Reply reply) {
    this.loop = loop;
    this.notes = notes;
    this.client = client;
    this.local = local;
    this.request = request;
    this.content = content;
    this.reply = reply;
  }

  /**
   * The same exchange for the stations behind one that changes the request, or puts a reply of its
   * own between them and the client.
   */
  public final Exchange behind(RequestHead request, Reply reply) {
    return new Exchange(loop, notes, client, local, request, content, reply);
  }

  /** The same exchange if another proxy of ours has sent it for this client. */
  public final Exchange of(InetSocketAddress other, RequestHead request, Reply reply) {
    return new Exchange(loop, notes, other, local, request, content, reply);
  }

  /** The same exchange behind a station that passes the request on as it is. */
  public final Exchange behind(Reply reply) {
    return behind(request, reply);
  }

  /** The loop that everything of this exchange happens on. */
  public final EventLoop loop() {
    return loop;
  }

  public final InetSocketAddress client() {
    return client;
  }

  /** The address of ours that the client connected to. */
  public final InetSocketAddress local() {
    return local;
  }

  public final RequestHead request() {
    return request;
  }

  public final RequestContent content() {
    return content;
  }

  public final Reply reply() {
    return reply;
  }

  /** What the stations note for log and metrics; one for all that see the exchange. */
  public final ExchangeNotes notes() {
    return notes;
  }
}
