package io.kamille.core.exchange;

import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A client's reply whose source may change while it lasts: from waiting to a fill in flight, from
 * the origin to a stored response. Each {@link #open} hands the reins to another source.
 *
 * <p>Confined to the exchange's loop.
 */
public final class ReplyHandover extends PassingReply implements ContentSource {

  private ContentSource source = ContentSource.NONE;
  private @Nullable Failure cancelled;
  private boolean isOpen;
  private boolean isPaused;

  private ReplyHandover(Reply client) {
    super(client);
  }

  /** That reply, which nobody has opened yet, or is a handover already. */
  public static ReplyHandover of(Reply client) {
    return client instanceof ReplyHandover handover ? handover : new ReplyHandover(client);
  }

  /** Whether the client has gone away. */
  public boolean isCancelled() {
    return cancelled != null;
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
      super.open(this);
    } else if (isPaused) {
      source.pause();
    }
  }

  @Override
  public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    return passHead(head, contentLength, whole);
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
}
