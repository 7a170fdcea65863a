package io.kamille.core.origin.send;

import io.kamille.core.content.QueuePieces;
import io.kamille.core.content.Spool;
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
 * The content of a request, taken in before the request goes to an origin: in memory as far as
 * {@code upstreams.*.upload-buffer}, then in the file of the {@link Spool}. Confined to its loop.
 */
final class UploadBuffer extends QueuePieces implements RequestContent {

  /*
   * A client may send as slowly as `limits.min-rate` lets it. Until its content is here, the
   * request has no origin, no place in a line and no connection.
   *
   *   FILLING ── all is here, or there is no more room ──► READY ◄─ again ── start ──► PASSING
   *
   * What was here whole may be kept until the origin has answered, so that it can be sent again.
   * That takes at most half of the memory for all: the other half is for content that comes in.
   *
   * If there is no more room, the client is paused, and the request goes to an origin with what is
   * here, as it would without a buffer. To wait for room instead would let those who send nothing
   * stop those who send. From then on, the client is as fast as the origin: a connection is busy
   * anyway.
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
    PASSING
  }

  private final RequestContent content;
  private final Spool spool;
  private final Owner owner;
  private State state = State.FILLING;
  private long length;
  private long left;

  /**
   * A buffer still to be filled; null for content that is not taken in: it is longer than the room
   * for one, or flows in both directions at once.
   *
   * @param pool says what is taken in
   */
  static @Nullable UploadBuffer of(Exchange exchange, PoolSettings pool, Spool spool, Owner owner) {
    RequestContent content = exchange.content();
    return pool.takesIn(exchange.request().fields(), content.length(), spool.contentBytes())
        ? new UploadBuffer(content, exchange.loop(), pool.uploadBufferBytes(), spool, owner)
        : null;
  }

  /** Takes the content in, whatever it is. */
  UploadBuffer(RequestContent content, EventLoop loop, long memoryBytes, Spool spool, Owner owner) {
    super(content, loop, memoryBytes, memoryBytes + spool.contentBytes(), spool);
    this.content = content;
    this.spool = spool;
    this.owner = owner;
    this.length = content.length();
    this.left = length < 0 ? Long.MAX_VALUE : length;
  }

  /** Asks the client for its content; the owner may be told before this returns. */
  void fill() {
    content.start(this);
  }

  // From the client

  @Override
  public void write(ByteBuf chunk) {
    left -= chunk.readableBytes();
    write(chunk, left);
  }

  /** What is here whole has a length; with trailers it goes in chunks (RFC 9112 §7.1.2). */
  @Override
  public void end(@Nullable Fields fields) {
    super.end(fields);
    if (isFilling()) {
      if (length < 0 && fields == null) {
        length = Long.MAX_VALUE - left;
      }
      state = State.READY;
      owner.contentIsReady();
    }
  }

  @Override
  public void abort(Failure why) {
    boolean wasFilling = isFilling();
    super.abort(why);
    if (wasFilling) {
      cancel(why);
      owner.contentBroke(why);
    }
  }

  private boolean isFilling() {
    return state == State.FILLING && !isOver();
  }

  @Override
  protected void settleSource() {
    boolean isOutOfRoom = isFilling() && left > 0 && isFull();
    if (isOutOfRoom) {
      state = State.READY;
      spool.wasFull();
    }
    super.settleSource();
    if (isOutOfRoom) {
      owner.contentIsReady();
    }
  }

  @Override
  protected boolean mustPause() {
    return switch (state) {
      case FILLING -> isLate();
      case READY -> true;
      case PASSING -> isPaused() || !isEmpty();
    };
  }

  // To the origin

  @Override
  public long length() {
    return length;
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
    state = State.PASSING;
    giveTo(taker);
  }

  /** Keeps what is here, if that is all of it and there is much room. */
  void keepIfWhole() {
    if (isComplete() && spool.hasMuchMemory()) {
      keep();
    }
  }

  /** May be started again, unless that is impossible; whether it may. */
  boolean again() {
    boolean isWhole = state == State.READY || rewind();
    if (isWhole) {
      state = State.READY;
    }
    return isWhole;
  }

  @Override
  public void tunnel(ContentSink taker) {
    content.tunnel(taker);
  }
}
