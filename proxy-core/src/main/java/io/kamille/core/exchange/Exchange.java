package io.kamille.core.exchange;

import io.kamille.core.http.RequestHead;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;

/**
 * One request and its reply, with what the stations may know of the connection they came by.
 * Confined to its loop.
 */
public final class Exchange {

  private final EventLoop loop;
  private final ExchangeNotes notes = new ExchangeNotes();
  private InetSocketAddress client;
  private InetSocketAddress local;
  private RequestHead request;
  private RequestContent content;
  private Reply reply;

  /** An exchange for the connection between these two addresses. */
  public Exchange(
      EventLoop loop,
      InetSocketAddress client,
      InetSocketAddress local,
      RequestHead request,
      RequestContent content,
      Reply reply) {
    this.loop = loop;
    this.client = client;
    this.local = local;
    this.request = request;
    this.content = content;
    this.reply = reply;
  }

  /** The loop that everything of this exchange happens on. */
  public EventLoop loop() {
    return loop;
  }

  public InetSocketAddress client() {
    return client;
  }

  /** The address of ours that the client connected to. */
  public InetSocketAddress local() {
    return local;
  }

  public RequestHead request() {
    return request;
  }

  /** Puts a changed request between the stations behind this one and what the client sent. */
  public void request(RequestHead request) {
    this.request = request;
  }

  public RequestContent content() {
    return content;
  }

  public Reply reply() {
    return reply;
  }

  /** Puts a station's own reply between those behind it and the client. */
  public void reply(Reply reply) {
    this.reply = reply;
  }

  /** What the stations note for log and metrics. */
  public ExchangeNotes notes() {
    return notes;
  }

  /** Begins anew with another request on the same loop. For the connection only. */
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
    this.notes.clear();
  }
}
