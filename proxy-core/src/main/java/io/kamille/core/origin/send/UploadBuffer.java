package io.kamille.core.origin.send;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.origin.PoolSettings;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The content of a request, taken in before the request goes to an origin. Confined to its loop.
 */
final class UploadBuffer implements RequestContent, ContentSink, SpooledContent.Owner {

  /*
   * A client may send as slowly as `limits.upload-rate` lets it. Until its content is here, the
   * request has no origin, no place in a line and no connection.
   *
   *   FILLING ── all is here, or there is no more room ──► READY ── start ──► PASSING ──► OVER
   *
   * If there is no more room, the client is paused, and the request goes to an origin with what is
   * here, as it would without a buffer. To wait for room instead would let those who send nothing
   * stop those who send.
   */

  /** Whose content it is. */
  interface Owner {

    /** The request may go to an origin now; said once. */
    void contentIsReady();

    /** The content broke off before that. */
    void contentBroke(Failure why);
  }

  private enum State {
    FILLING,
    READY,
    PASSING,
    OVER
  }

  private final RequestContent content;
  private final Spool spool;
  private final Owner owner;
  private final SpooledContent held;
  private State state = State.FILLING;
  private long left;
  private @Nullable ContentSink sink;
  private @Nullable Fields trailers;
  private @Nullable Failure broken;
  private boolean isComplete;
  private boolean isPaused;
  private boolean isDelivering;
  private boolean isHeldUp;

  /**
   * A buffer still to be filled; null for content that is not taken in: it is longer than the room
   * for one, or flows in both directions at once.
   *
   * @param pool says what is taken in
   */
  static @Nullable UploadBuffer of(Exchange exchange, PoolSettings pool, Spool spool, Owner owner) {
    RequestContent content = exchange.content();
    return pool.takesIn(exchange.request().fields(), content.length(), spool.fileBytes())
        ? new UploadBuffer(content, exchange.loop(), pool.uploadBufferBytes(), spool, owner)
        : null;
  }

  /** Takes the content in, whatever it is. */
  UploadBuffer(RequestContent content, EventLoop loop, long memoryBytes, Spool spool, Owner owner) {
    this.content = content;
    this.spool = spool;
    this.owner = owner;
    this.left = content.length() < 0 ? Long.MAX_VALUE : content.length();
    this.held = new SpooledContent(spool, loop, memoryBytes, memoryBytes + spool.fileBytes(), this);
  }

  /** Asks the client for its content; the owner may be told before this returns. */
  void fill() {
    content.start(this);
  }

  /** Whether nothing more is awaited from the client. */
  boolean isComplete() {
    return isComplete;
  }

  // From the client

  @Override
  public void write(ByteBuf chunk) {
    left -= chunk.readableBytes();
    ContentSink taker = sink;
    if (state == State.OVER) {
      chunk.release();
    } else if (taker != null && held.isEmpty() && !isPaused && !isDelivering) {
      taker.write(chunk);
    } else {
      held.add(chunk, left);
      look();
    }
  }

  @Override
  public void spoolMoved() {
    if (state == State.PASSING) {
      deliver();
      goOn();
    }
    look();
  }

  /** Holds the client up while its content is written, and stops to wait where there is no room. */
  private void look() {
    Failure why = held.broken();
    if (why != null && state != State.OVER) {
      if (!isComplete) {
        content.cancel(why);
      }
      abort(why);
    } else if (state == State.FILLING && left > 0 && held.isFull()) {
      spool.wasFull();
      content.pause();
      ready();
    } else if (state == State.FILLING && held.isLate() != isHeldUp) {
      isHeldUp = held.isLate();
      if (isHeldUp) {
        content.pause();
      } else {
        content.resume();
      }
    }
  }

  @Override
  public void end(@Nullable Fields fields) {
    isComplete = true;
    if (fields != null) {
      trailers = fields.copy();
    }
    if (state == State.FILLING) {
      ready();
    } else {
      deliver();
    }
  }

  private void ready() {
    state = State.READY;
    owner.contentIsReady();
  }

  @Override
  public void abort(Failure why) {
    ContentSink taker = sink;
    switch (state) {
      case FILLING -> {
        release();
        owner.contentBroke(why);
      }
      case READY -> broken = why;
      case PASSING -> {
        release();
        if (taker != null) {
          taker.abort(why);
        }
      }
      case OVER -> {}
    }
  }

  // To the origin

  @Override
  public long length() {
    return content.length();
  }

  @Override
  public boolean isAskedFor() {
    return true;
  }

  @Override
  public void start(ContentSink taker) {
    if (state != State.READY) {
      throw new IllegalStateException("start: the content is " + state + " (expected: READY)");
    }
    Failure why = broken;
    if (why != null) {
      release();
      taker.abort(why);
      return;
    }
    state = State.PASSING;
    sink = taker;
    deliver();
    goOn();
  }

  /** Gives what is here while the sink takes it. */
  private void deliver() {
    ContentSink taker = sink;
    if (taker == null || isDelivering) {
      return;
    }
    isDelivering = true;
    try {
      ByteBuf next = null;
      while (state == State.PASSING && !isPaused && (next = held.poll()) != null) {
        taker.write(next);
      }
    } finally {
      isDelivering = false;
    }
    if (state == State.PASSING && isComplete && held.isEmpty()) {
      release();
      taker.end(trailers);
    }
  }

  private void goOn() {
    if (state == State.PASSING && !isPaused && !isComplete && held.isEmpty()) {
      content.resume();
    }
  }

  @Override
  public void pause() {
    isPaused = true;
    if (!isComplete) {
      content.pause();
    }
  }

  @Override
  public void resume() {
    isPaused = false;
    deliver();
    goOn();
  }

  @Override
  public void tunnel(ContentSink taker) {
    content.tunnel(taker);
  }

  /** Frees all room, and says to the client's side that nobody wants the rest. Idempotent. */
  @Override
  public void cancel(Failure why) {
    if (state != State.OVER) {
      release();
      if (!isComplete) {
        content.cancel(why);
      }
    }
  }

  private void release() {
    state = State.OVER;
    sink = null;
    held.release();
  }
}
