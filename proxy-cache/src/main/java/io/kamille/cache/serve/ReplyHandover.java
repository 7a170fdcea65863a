package io.kamille.cache.serve;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import org.jspecify.annotations.Nullable;

/**
 * A client's reply whose source may change while it lasts: from waiting to a fill in flight, from
 * the origin to a stored response. Each {@link #open} hands the reins to another source.
 *
 * <p>Confined to the exchange's loop.
 */
public final class ReplyHandover implements Reply, ContentSource {

  private final Reply client;
  private ContentSource source = ContentSource.NONE;
  private @Nullable Failure cancelled;
  private boolean isOpen;
  private boolean isPaused;

  private ReplyHandover(Reply client) {
    this.client = client;
  }

  /** That reply, which nobody has opened yet, or is a handover already. */
  public static ReplyHandover of(Reply client) {
    return client instanceof ReplyHandover handover ? handover : new ReplyHandover(client);
  }

  /** Whether the client is slow at this moment. */
  public boolean isPaused() {
    return isPaused;
  }

  @Override
  public void open(ContentSource source) {
    this.source = source;
    if (cancelled != null) {
      source.cancel(cancelled);
      return;
    }
    if (!isOpen) {
      isOpen = true;
      client.open(this);
    } else if (isPaused) {
      source.pause();
    }
  }

  @Override
  public void pause() {
    isPaused = true;
    source.pause();
  }

  @Override
  public void resume() {
    isPaused = false;
    source.resume();
  }

  @Override
  public void cancel(Failure why) {
    if (cancelled == null) {
      cancelled = why;
      source.cancel(why);
    }
  }

  @Override
  public void interim(ResponseHead head) {
    client.interim(head);
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
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
  public boolean takesRegions() {
    return client.takesRegions();
  }

  @Override
  public void write(FileRegion region) {
    client.write(region);
  }

  @Override
  public void end(@Nullable Fields trailers) {
    client.end(trailers);
  }

  @Override
  public void abort(Failure why) {
    client.abort(why);
  }

  @Override
  public void fail(Failure failure) {
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
