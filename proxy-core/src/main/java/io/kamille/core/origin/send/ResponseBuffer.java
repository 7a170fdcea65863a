package io.kamille.core.origin.send;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The content of a response from the moment on when its client is slow: it is taken from the origin
 * all the same, so that the connection is soon free. Confined to its loop.
 */
final class ResponseBuffer extends PassingReply implements ContentSource, SpooledContent.Owner {

  private final ContentSource origin;
  private final SpooledContent held;
  private final long mostBytes;
  private @Nullable Fields trailers;
  private boolean isComplete;
  private boolean isPaused = true;
  private boolean isOriginPaused;
  private boolean isDelivering;
  private boolean isOver;

  /**
   * Stands between the origin and a reply that has just asked for a pause.
   *
   * @param mostBytes how much it takes before the origin is paused, too
   */
  ResponseBuffer(
      Exchange exchange, Reply client, ContentSource origin, long mostBytes, Spool spool) {
    super(client);
    this.origin = origin;
    this.mostBytes = mostBytes;
    this.held = new SpooledContent(spool, exchange.loop(), mostBytes, mostBytes, this);
  }

  @Override
  public void write(ByteBuf chunk) {
    if (isOver) {
      chunk.release();
    } else if (!isPaused && !isDelivering && held.isEmpty()) {
      super.write(chunk);
    } else {
      held.add(chunk, Long.MAX_VALUE);
      look();
    }
  }

  @Override
  public void end(@Nullable Fields fields) {
    isComplete = true;
    trailers = fields == null ? null : fields.copy();
    deliver();
  }

  /** What is here is not given first: the message is cut in any case. */
  @Override
  public void abort(Failure why) {
    if (!isOver) {
      release();
      super.abort(why);
    }
  }

  @Override
  public void spoolMoved() {
    deliver();
    look();
  }

  private void look() {
    Failure why = held.broken();
    if (isOver) {
      return;
    }
    if (why != null) {
      origin.cancel(why);
      abort(why);
      return;
    }
    boolean mustPause = isOriginPaused ? held.isMoreThan(mostBytes / 2) : held.isFull();
    mustPause |= held.isLate();
    if (mustPause != isOriginPaused && !isComplete) {
      isOriginPaused = mustPause;
      if (mustPause) {
        origin.pause();
      } else {
        origin.resume();
      }
    }
  }

  private void deliver() {
    if (isDelivering) {
      return;
    }
    isDelivering = true;
    try {
      ByteBuf next = null;
      while (!isOver && !isPaused && (next = held.poll()) != null) {
        super.write(next);
      }
    } finally {
      isDelivering = false;
    }
    if (!isOver && isComplete && held.isEmpty()) {
      release();
      super.end(trailers);
    }
  }

  // The client's side

  @Override
  public void pause() {
    isPaused = true;
  }

  @Override
  public void resume() {
    isPaused = false;
    deliver();
    look();
  }

  /** Nobody wants the rest. The origin is told by whoever sent the request. */
  @Override
  public void cancel(Failure why) {
    release();
  }

  private void release() {
    isOver = true;
    held.release();
  }
}
