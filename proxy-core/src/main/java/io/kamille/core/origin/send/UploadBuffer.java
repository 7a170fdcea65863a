package io.kamille.core.origin.send;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The content of a request, taken in before the request goes to an origin. Confined to its loop.
 */
final class UploadBuffer implements RequestContent, ContentSink {

  /*
   * A client may send as slowly as `limits.upload-rate` lets it. Until its content is here, the
   * request has no origin, no place in a line and no connection.
   *
   *   FILLING ── all is here, or the memory is used up ──► READY ── start ──► PASSING ──► OVER
   *
   * If the memory is used up, the client is paused, and the request goes to an origin with what is
   * here, as it would without a buffer. To wait for memory instead would let those who send nothing
   * stop those who send.
   *
   * A chunk is a slice of what one read brought. A small one that is not the last is copied into a
   * block: otherwise it would keep a buffer of many times its size. Blocks are as large as what is
   * here already, so that a client makes us hold little more than it has sent.
   */
  private static final int KEPT_BYTES = 32 * 1024;
  private static final int LEAST_BLOCK_BYTES = 1024;
  private static final int GREATEST_BLOCK_BYTES = 16 * 1024;

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
  private final UploadMemory memory;
  private final Owner owner;
  private final ArrayDeque<ByteBuf> held = new ArrayDeque<>(4);
  private State state = State.FILLING;
  private long left;
  private int heldBytes;
  private @Nullable ByteBuf block;
  private @Nullable ContentSink sink;
  private @Nullable Fields trailers;
  private @Nullable Failure broken;
  private boolean isComplete;
  private boolean isPaused;
  private boolean isDelivering;

  /**
   * A buffer still to be filled; null for content that is not taken in: it has no known length, or
   * more than {@code mostBytes}.
   */
  static @Nullable UploadBuffer of(
      RequestContent content, long mostBytes, UploadMemory memory, Owner owner) {
    return content.length() > 0 && content.length() <= mostBytes
        ? new UploadBuffer(content, memory, owner)
        : null;
  }

  /** Takes the content in, whatever its length. */
  UploadBuffer(RequestContent content, UploadMemory memory, Owner owner) {
    this.content = content;
    this.memory = memory;
    this.owner = owner;
    this.left = content.length();
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
    } else if (!hold(chunk) && state == State.FILLING) {
      memory.wasFull();
      content.pause();
      ready();
    }
  }

  /** Takes ownership. Returns whether there was memory for it. */
  private boolean hold(ByteBuf chunk) {
    if (chunk.readableBytes() < KEPT_BYTES && left > 0 && state == State.FILLING) {
      return copy(chunk);
    }
    block = null;
    return add(chunk);
  }

  private boolean copy(ByteBuf chunk) {
    boolean hasRoom = true;
    try {
      while (chunk.isReadable()) {
        ByteBuf open = block;
        if (open == null || !open.isWritable()) {
          int size = Math.clamp(heldBytes, LEAST_BLOCK_BYTES, GREATEST_BLOCK_BYTES);
          size = (int) Math.min(size, chunk.readableBytes() + left);
          open = chunk.alloc().directBuffer(size, size);
          block = open;
          hasRoom &= add(open);
        }
        open.writeBytes(chunk, Math.min(chunk.readableBytes(), open.writableBytes()));
      }
    } finally {
      chunk.release();
    }
    return hasRoom;
  }

  private boolean add(ByteBuf buffer) {
    held.addLast(buffer);
    heldBytes += buffer.capacity();
    return memory.take(buffer.capacity());
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
    block = null;
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
      while (state == State.PASSING && !isPaused && !held.isEmpty()) {
        taker.write(next());
      }
    } finally {
      isDelivering = false;
    }
    if (state == State.PASSING && isComplete && held.isEmpty()) {
      state = State.OVER;
      taker.end(trailers);
    }
  }

  private ByteBuf next() {
    ByteBuf buffer = held.removeFirst();
    heldBytes -= buffer.capacity();
    memory.giveBack(buffer.capacity());
    return buffer;
  }

  private void goOn() {
    if (state == State.PASSING && !isPaused && !isComplete) {
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

  /** Frees all memory, and says to the client's side that nobody wants the rest. Idempotent. */
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
    block = null;
    while (!held.isEmpty()) {
      next().release();
    }
  }
}
