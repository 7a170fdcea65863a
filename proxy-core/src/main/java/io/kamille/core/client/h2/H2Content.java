package io.kamille.core.client.h2;

import io.kamille.core.client.ClientContent;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.http.Fields;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** The content of one request on its way in. Confined to its loop. */
final class H2Content extends ClientContent {

  /*
   * What comes before anybody wants it, or while its taker pauses, waits here; the stream's window
   * bounds it. Credit goes back to the client for what was passed on, and for nothing else.
   *
   * A chunk is a slice of what one read brought. One that has to wait is copied into a block:
   * otherwise it would keep a buffer of many times its size. Blocks are as large as what waits
   * already, so that a client makes us hold little more than it has sent.
   */
  private static final int LEAST_BLOCK_BYTES = 1024;
  private static final int GREATEST_BLOCK_BYTES = 16 * 1024;

  /** The stream. */
  interface Stream extends ClientContent.Owner {

    /** So many octets were passed on: the client may send as many again. */
    void credit(int bytes);

    /** The content is not what the request says of it (RFC 9113 §8.1.1). */
    void contentIsMalformed(String reason);
  }

  private final Stream owner;
  private final boolean isTunnel;
  private @Nullable ArrayDeque<ByteBuf> waiting;
  private int waitingBytes;
  private long seenOctets;
  private long movedNanos;
  private @Nullable Fields trailers;
  private boolean isPaused;
  private boolean isAllHere;
  private boolean isEnded;
  private boolean isDelivering;

  /**
   * The content of a stream's request.
   *
   * @param length -1 if the request does not say
   * @param isTunnel whether there is none, and what comes is for {@link #tunnel}
   */
  H2Content(Stream owner, long length, boolean isTunnel) {
    super(owner, length < 0 ? UNKNOWN_LENGTH : length);
    this.owner = owner;
    this.isTunnel = isTunnel;
  }

  boolean isTunnel() {
    return isTunnel;
  }

  @Override
  public long length() {
    return isTunnel ? 0 : super.length();
  }

  @Override
  public void start(ContentSink sink) {
    if (isTunnel) {
      sink.end(null);
    } else {
      super.start(sink);
    }
  }

  @Override
  protected void started() {
    movedNanos = owner.now();
    deliver();
  }

  @Override
  public void tunnel(ContentSink sink) {
    if (!isTunnel || isDropped()) {
      sink.abort(Failure.of(Kind.CLIENT_GONE, "there is no tunnel"));
      return;
    }
    take(sink);
    deliver();
  }

  @Override
  public void pause() {
    isPaused = true;
    super.pause();
  }

  @Override
  public void resume() {
    if (isPaused) {
      isPaused = false;
      super.resume();
      deliver();
    }
  }

  @Override
  public void cancel(Failure why) {
    dismiss();
  }

  /** Takes ownership. */
  void received(ByteBuf chunk) {
    int bytes = chunk.readableBytes();
    came(bytes);
    if (super.length() >= 0 && octets() > super.length()) {
      chunk.release();
      owner.contentIsMalformed("more content than its length says");
      return;
    }
    if (isDropped()) {
      chunk.release();
      owner.credit(bytes);
      return;
    }
    ContentSink taker = sink();
    if (taker == null || isPaused || isDelivering) {
      keep(chunk);
      return;
    }
    isDelivering = true;
    try {
      taker.write(chunk);
      owner.credit(bytes);
    } finally {
      isDelivering = false;
    }
    deliver();
  }

  private void keep(ByteBuf chunk) {
    int bytes = chunk.readableBytes();
    ArrayDeque<ByteBuf> queue = waiting;
    if (queue == null) {
      queue = new ArrayDeque<>(4);
      waiting = queue;
    }
    try {
      ByteBuf last = queue.peekLast();
      if (last == null || last.writableBytes() < bytes) {
        int room = Math.clamp(waitingBytes, LEAST_BLOCK_BYTES, GREATEST_BLOCK_BYTES);
        last = chunk.alloc().directBuffer(Math.max(room, bytes));
        queue.addLast(last);
      }
      last.writeBytes(chunk);
      waitingBytes += bytes;
    } finally {
      chunk.release();
    }
  }

  /** The end follows. */
  void receivedTrailers(Fields fields) {
    trailers = fields.size() == 0 ? null : fields;
  }

  void receivedEnd() {
    if (super.length() >= 0 && octets() != super.length()) {
      owner.contentIsMalformed("less content than its length says");
      return;
    }
    isAllHere = true;
    deliver();
  }

  /** Gives on what waits, while somebody takes it. */
  private void deliver() {
    if (isDelivering) {
      return;
    }
    isDelivering = true;
    try {
      ContentSink taker = sink();
      while (taker != null && !isPaused && waiting != null && !waiting.isEmpty()) {
        ByteBuf chunk = waiting.removeFirst();
        int bytes = chunk.readableBytes();
        waitingBytes -= bytes;
        taker.write(chunk);
        owner.credit(bytes);
        taker = sink();
      }
    } finally {
      isDelivering = false;
    }
    ContentSink taker = sink();
    if (taker != null && isAllHere && !isEnded && (waiting == null || waiting.isEmpty())) {
      isEnded = true;
      taker.end(trailers);
    }
  }

  @Override
  protected boolean isComplete() {
    return isEnded;
  }

  /**
   * Whether the client sends slower than it must, or nothing at all for too long. Looked at by the
   * sweep.
   *
   * @param partialBytes what has come of a frame that is not complete
   */
  boolean isTooSlow(long nowNanos, int partialBytes) {
    if (isTunnel || isAllHere || !isTaken()) {
      return false;
    }
    long seen = octets() + partialBytes;
    if (isPaused || seen != seenOctets) {
      seenOctets = seen;
      movedNanos = nowNanos;
    }
    return nowNanos - movedNanos >= owner.settings().contentTimeout().toNanos()
        || isBelowLeastRate(nowNanos, seen);
  }

  @Override
  public @Nullable ContentSink dismiss() {
    ContentSink taker = super.dismiss();
    ArrayDeque<ByteBuf> rest = waiting;
    waiting = null;
    if (rest != null) {
      for (ByteBuf chunk : rest) {
        owner.credit(chunk.readableBytes());
        chunk.release();
      }
    }
    return taker;
  }

  /** What a request is told whose content comes too slowly. */
  static Failure tooSlow() {
    return Failure.request(StatusCode.REQUEST_TIMEOUT, "the request content came too slowly");
  }
}
