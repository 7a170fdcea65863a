package io.kamille.core.client.h2;

import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.LeastRate;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.LimitedSink;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** The content of one request on its way in. Confined to its loop. */
final class StreamContent implements RequestContent {

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
  interface Owner {

    ClientSettings settings();

    /** Monotonic nanoseconds. */
    long now();

    /** Asks the client for its content, if it waits to be asked (RFC 9110 §10.1.1). */
    void sendContinue();

    /** So many octets were passed on: the client may send as many again. */
    void credit(int bytes);

    /** The content is not what the request says of it (RFC 9113 §8.1.1). */
    void contentIsMalformed(String reason);

    void contentIsTooLarge();
  }

  private final Owner owner;
  private final long length;
  private final boolean isTunnel;
  private @Nullable ContentSink sink;
  private @Nullable ArrayDeque<ByteBuf> waiting;
  private int waitingBytes;
  private @Nullable LeastRate rate;
  private long octets;
  private long seenOctets;
  private long movedNanos;
  private @Nullable Fields trailers;
  private boolean isPaused;
  private boolean isComplete;
  private boolean isEnded;
  private boolean isDropped;
  private boolean isDelivering;

  /**
   * The content of a stream's request.
   *
   * @param length -1 if the request does not say
   * @param isTunnel whether there is none, and what comes is for {@link #tunnel}
   */
  StreamContent(Owner owner, long length, boolean isTunnel) {
    this.owner = owner;
    this.length = length;
    this.isTunnel = isTunnel;
  }

  boolean isTunnel() {
    return isTunnel;
  }

  @Override
  public long length() {
    if (isTunnel) {
      return 0;
    }
    return length < 0 ? UNKNOWN_LENGTH : length;
  }

  @Override
  public void start(ContentSink sink) {
    if (isTunnel) {
      sink.end(null);
      return;
    }
    if (this.sink != null) {
      throw new IllegalStateException("start: the content of a request is delivered once");
    }
    if (isDropped) {
      sink.abort(Failure.of(Kind.CLIENT_GONE, "the request content came to an early end"));
      return;
    }
    long limit = owner.settings().maxContentBytes();
    this.sink =
        limit == Long.MAX_VALUE ? sink : new LimitedSink(sink, limit, owner::contentIsTooLarge);
    movedNanos = owner.now();
    rate = new LeastRate(movedNanos, octets);
    owner.sendContinue();
    deliver();
  }

  @Override
  public void tunnel(ContentSink sink) {
    if (!isTunnel || isDropped) {
      sink.abort(Failure.of(Kind.CLIENT_GONE, "there is no tunnel"));
      return;
    }
    this.sink = sink;
    deliver();
  }

  @Override
  public void pause() {
    isPaused = true;
    if (rate != null) {
      rate.hold(owner.now());
    }
  }

  @Override
  public void resume() {
    if (isPaused) {
      isPaused = false;
      if (rate != null) {
        rate.release(owner.now());
      }
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
    octets += bytes;
    if (length >= 0 && octets > length) {
      chunk.release();
      owner.contentIsMalformed("more content than its length says");
      return;
    }
    if (isDropped) {
      chunk.release();
      owner.credit(bytes);
      return;
    }
    ContentSink taker = sink;
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
    if (length >= 0 && octets != length) {
      owner.contentIsMalformed("less content than its length says");
      return;
    }
    isComplete = true;
    deliver();
  }

  /** Gives on what waits, while somebody takes it. */
  private void deliver() {
    if (isDelivering) {
      return;
    }
    isDelivering = true;
    try {
      while (sink != null && !isPaused && waiting != null && !waiting.isEmpty()) {
        ByteBuf chunk = waiting.removeFirst();
        int bytes = chunk.readableBytes();
        waitingBytes -= bytes;
        sink.write(chunk);
        owner.credit(bytes);
      }
    } finally {
      isDelivering = false;
    }
    ContentSink taker = sink;
    if (taker != null && isComplete && !isEnded && (waiting == null || waiting.isEmpty())) {
      isEnded = true;
      sink = null;
      taker.end(trailers);
    }
  }

  /** Whether somebody still takes it. */
  boolean isTaken() {
    return sink != null && !isEnded;
  }

  /**
   * Whether the client sends slower than it must, or nothing at all for too long. Looked at by the
   * sweep.
   *
   * @param partialBytes what has come of a frame that is not complete
   */
  boolean isTooSlow(long nowNanos, int partialBytes) {
    LeastRate measured = rate;
    if (measured == null || isComplete || !isTaken()) {
      return false;
    }
    long seen = octets + partialBytes;
    if (isPaused || seen != seenOctets) {
      seenOctets = seen;
      movedNanos = nowNanos;
    }
    ClientSettings settings = owner.settings();
    return nowNanos - movedNanos >= settings.contentTimeout().toNanos()
        || measured.isTooSlow(
            nowNanos, seen, settings.uploadGrace().toNanos(), settings.uploadBytesPerSecond());
  }

  /** Gives nothing more to who took it, and says who that was if not all had come. */
  @Nullable ContentSink dismiss() {
    ContentSink taker = isEnded ? null : sink;
    sink = null;
    isDropped = true;
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

  /** The rest will not come. */
  void breakOff(Failure why) {
    ContentSink taker = dismiss();
    if (taker != null) {
      taker.abort(why);
    }
  }

  /** What a request is told whose content comes too slowly. */
  static Failure tooSlow() {
    return Failure.request(StatusCode.REQUEST_TIMEOUT, "the request content came too slowly");
  }
}
