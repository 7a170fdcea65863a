package io.kamille.core.origin.send;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Content on its way from one side to the other, which is slower: it is taken from the fast side
 * all the same, as far as there is room. Confined to its loop.
 */
class ContentBuffer implements ContentSink, ContentSource {

  private static final Failure LOST =
      Failure.of(Kind.PROXY_INTERNAL_ERROR, "content that waited in a file cannot be read");

  private final ContentSource source;
  final SpooledContent held;
  private @Nullable ContentSink sink;
  private @Nullable Fields trailers;
  private @Nullable Failure broken;
  private boolean isComplete;
  private boolean isPaused;
  private boolean isSourcePaused;
  private boolean isDelivering;
  private boolean isOver;

  /**
   * Nobody takes the content yet.
   *
   * @param memoryBytes how much of it may be in memory
   * @param mostBytes how much it holds before the source is paused
   */
  ContentBuffer(
      ContentSource source, EventLoop loop, long memoryBytes, long mostBytes, Spool spool) {
    this.source = source;
    this.held = new SpooledContent(spool, loop, memoryBytes, mostBytes, this::move);
  }

  /** Gives the content to that sink. */
  final void giveTo(ContentSink taker) {
    sink = taker;
    move();
  }

  /** Whether nothing more is awaited from the source. */
  final boolean isComplete() {
    return isComplete;
  }

  /** Whether the sink or the source wants nothing more, or all has been given. */
  final boolean isOver() {
    return isOver;
  }

  /** Whether the sink takes content, and all of it. */
  final boolean keepsUp() {
    return !isPaused && held.isEmpty();
  }

  // From the source

  @Override
  public void write(ByteBuf chunk) {
    write(chunk, Long.MAX_VALUE);
  }

  /** As {@link #write(ByteBuf)}, where at most so many octets follow. */
  final void write(ByteBuf chunk, long left) {
    ContentSink taker = sink;
    if (isOver) {
      chunk.release();
    } else if (taker != null && !isPaused && !isDelivering && held.isEmpty()) {
      taker.write(chunk);
    } else {
      held.add(chunk, left);
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
    broken = why;
    deliver();
  }

  private void move() {
    deliver();
    look();
  }

  /** Gives what is here while the sink takes it. */
  private void deliver() {
    if (isDelivering) {
      return;
    }
    isDelivering = true;
    try {
      ByteBuf next = null;
      // A taker may fail meanwhile, and another one take its place.
      while (sink != null && isFlowing() && (next = held.poll()) != null) {
        sink.write(next);
      }
    } finally {
      isDelivering = false;
    }
    ContentSink taker = sink;
    Failure why = broken;
    if (taker == null || isOver) {
      return;
    }
    if (why != null) {
      release();
      taker.abort(why);
    } else if (isComplete && held.isEmpty()) {
      stop();
      taker.end(trailers);
    }
  }

  private boolean isFlowing() {
    return broken == null && !isOver && !isPaused;
  }

  /** Pauses the source, or lets it go on. */
  void look() {
    if (isOver) {
      return;
    }
    if (held.isLost()) {
      if (!isComplete) {
        stopSource(LOST);
      }
      abort(LOST);
      return;
    }
    boolean mustPause = mustPause();
    if (mustPause != isSourcePaused && !isComplete) {
      isSourcePaused = mustPause;
      if (mustPause) {
        source.pause();
      } else {
        source.resume();
      }
    }
  }

  /** What is here is lost: no more of it should come. */
  void stopSource(Failure why) {
    source.cancel(why);
  }

  boolean mustPause() {
    return held.isFull() || held.isLate() || (isSourcePaused && held.isHalfFull());
  }

  // From the sink

  @Override
  public final void pause() {
    isPaused = true;
    look();
  }

  @Override
  public final void resume() {
    isPaused = false;
    move();
  }

  /** Frees room, unless it is kept; says to the source that nobody wants more. Idempotent. */
  @Override
  public final void cancel(Failure why) {
    if (!isOver) {
      stop();
      if (!isComplete) {
        source.cancel(why);
      }
    }
  }

  private void stop() {
    isOver = true;
    if (!held.isKept()) {
      held.release();
    }
  }

  final void release() {
    isOver = true;
    held.release();
  }

  /** Begins anew without a sink, if all content was kept; whether it was. */
  final boolean rewind() {
    if (held.isKept()) {
      held.rewind();
      sink = null;
      isOver = false;
      isPaused = false;
    }
    return held.isKept();
  }

  /** What was kept is not needed a second time. */
  final void letGo() {
    held.letGo();
    if (isOver) {
      held.release();
    }
  }
}
