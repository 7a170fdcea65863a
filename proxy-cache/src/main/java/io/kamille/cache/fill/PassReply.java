package io.kamille.cache.fill;

import io.kamille.cache.semantics.Tags;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.core.content.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Reply;
import io.kamille.core.failure.Failure;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Passes a response on that has nothing to do with the store, and says so in Cache-Status. Confined
 * to its loop.
 */
final class PassReply implements Reply {

  /** Looks at the final head as it passes. */
  @FunctionalInterface
  interface HeadObserver {

    /** Borrows the head until it returns. */
    void passing(ResponseHead head);
  }

  private final Exchange exchange;
  private final Reply client;
  private final CacheStatus cacheStatus;
  private final Forwarding forwarding;
  private final HeadObserver observer;

  PassReply(
      Exchange exchange, CacheStatus cacheStatus, Forwarding forwarding, HeadObserver observer) {
    this.exchange = exchange;
    this.client = exchange.reply();
    this.cacheStatus = cacheStatus;
    this.forwarding = forwarding;
    this.observer = observer;
  }

  @Override
  public void open(ContentSource source) {
    client.open(source);
  }

  @Override
  public void interim(ResponseHead head) {
    cacheStatus.received(head.fields());
    Tags.removeFrom(head.fields());
    client.interim(head);
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    cacheStatus.received(head.fields());
    observer.passing(head);
    Tags.removeFrom(head.fields());
    cacheStatus.forwarded(head.fields(), forwarding);
    client.head(head, contentLength);
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    client.stored(status, ownLines, ownLength, linesAndContent, contentLength);
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    client.storedHead(status, ownLines, ownLength, lines, contentLength);
  }

  @Override
  public void write(ByteBuf chunk) {
    client.write(chunk);
  }

  @Override
  public void end(@Nullable Fields trailers) {
    Tags.removeFrom(trailers);
    client.end(trailers);
  }

  @Override
  public void abort(Failure why) {
    client.abort(why);
  }

  @Override
  public void fail(Failure failure) {
    exchange.notes().cacheStatus(cacheStatus.member(forwarding));
    client.fail(failure);
  }

  @Override
  public boolean isBegun() {
    return client.isBegun();
  }

  @Override
  public boolean isEnded() {
    return client.isEnded();
  }
}
