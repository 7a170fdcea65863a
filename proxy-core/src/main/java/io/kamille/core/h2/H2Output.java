package io.kamille.core.h2;

import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2CodecUtil;
import org.jspecify.annotations.Nullable;

/**
 * What goes to the other side of one connection: header sections at once, content in the order of
 * priorities, as far as windows and the socket allow (RFC 9113 §5.2, RFC 9218 §10). Confined to its
 * loop.
 */
final class H2Output {

  private static final long MAX_WINDOW = Integer.MAX_VALUE;

  private final H2Owner wire;
  private final FrameWriter writer;
  private final SendQueue queue;
  private final AttackBudget budget;
  private final HpackWriter scratch;
  private long window = ReceiveWindow.DEFAULT_BYTES;
  private int initialWindow = ReceiveWindow.DEFAULT_BYTES;
  private int maxPayload = Http2CodecUtil.DEFAULT_MAX_FRAME_SIZE;
  private long sentBytes;
  private boolean firstSectionSent;
  private boolean held;
  private boolean sending;

  H2Output(
      H2Owner wire, FrameWriter writer, SendQueue queue, AttackBudget budget, HpackWriter scratch) {
    this.wire = wire;
    this.writer = writer;
    this.queue = queue;
    this.budget = budget;
    this.scratch = scratch;
  }

  // Header sections

  /** Begins a header section in the scratch of the loop. */
  HpackWriter section() {
    scratch.begin(!firstSectionSent);
    firstSectionSent = true;
    return scratch;
  }

  void head(H2Stream stream, HpackWriter section, boolean isLast) {
    writer.head(stream.id(), section, isLast, maxPayload);
  }

  // Content

  /** The stream has something to send, or its window has changed. */
  void wantsToSend(H2Stream stream) {
    if (stream.canSend()) {
      queue.add(stream);
    }
  }

  /** When the stream is to be sent from now on. */
  void priority(H2Stream stream, Priority priority) {
    boolean queued = stream.isQueued;
    queue.remove(stream);
    stream.priority = priority;
    if (queued) {
      queue.add(stream);
    }
  }

  /** Sends nothing until {@link #release}: the order is known only once all have spoken. */
  void hold() {
    held = true;
  }

  void release() {
    held = false;
  }

  /** Sends content in turn. */
  void sendReady() {
    if (held || sending) {
      return;
    }
    sending = true;
    try {
      boolean more = true;
      while (more && wire.isWritable()) {
        more = sendNext();
      }
    } finally {
      sending = false;
    }
  }

  /** One frame. Returns false if there is none, or no window for it. */
  private boolean sendNext() {
    H2Stream stream = queue.first();
    if (stream == null) {
      return false;
    }
    if (!stream.canSend()) {
      queue.remove(stream);
      return true;
    }
    ByteBuf piece = null;
    if (!stream.isLastTaken()) {
      if (window <= 0) {
        return false;
      }
      piece = stream.take((int) Math.min(window, maxPayload));
    }
    send(stream, piece);
    return true;
  }

  private void send(H2Stream stream, @Nullable ByteBuf piece) {
    int length = piece == null ? 0 : piece.readableBytes();
    boolean isLast = stream.isLastTaken();
    window -= length;
    sentBytes += length;
    Fields trailers = isLast ? stream.trailers() : null;
    if (piece != null || trailers == null) {
      writer.data(stream.id(), piece, isLast && trailers == null);
    }
    if (trailers != null) {
      trailers(stream, trailers);
    }
    budget.sentData(length, stream.isDry());
    if (isLast) {
      queue.remove(stream);
    } else {
      queue.turn(stream);
    }
    stream.taken(length, isLast);
  }

  private void trailers(H2Stream stream, Fields trailers) {
    HpackWriter section = section();
    for (int i = 0; i < trailers.size(); i++) {
      section.line(trailers, i);
    }
    head(stream, section, true);
  }

  // What the other side allows

  /** The window of the connection grows. Returns false if it becomes too large (§6.9.1). */
  boolean grow(int bytes) {
    window += bytes;
    return window <= MAX_WINDOW;
  }

  /** The window of a stream grows. Returns false if it becomes too large. */
  boolean grow(H2Stream stream, long bytes) {
    if (!stream.growSendWindow(bytes)) {
      return false;
    }
    wantsToSend(stream);
    return true;
  }

  /**
   * New streams have this window, and those that are open change theirs by the difference (§6.9.2).
   *
   * @return false if a window becomes too large
   */
  boolean initialWindow(int bytes, OpenStreams streams) {
    long change = (long) bytes - initialWindow;
    initialWindow = bytes;
    for (H2Stream stream : streams.all()) {
      if (!grow(stream, change)) {
        return false;
      }
    }
    return true;
  }

  int initialWindow() {
    return initialWindow;
  }

  /** The longest payload; ours stays at most at the default. */
  void maxPayload(int bytes) {
    maxPayload = Math.min(Http2CodecUtil.DEFAULT_MAX_FRAME_SIZE, bytes);
  }

  /** Whether content waits for the window of the connection. */
  boolean isBlocked() {
    return window <= 0 && !queue.isEmpty();
  }

  /** Octets of content sent so far. */
  long sentBytes() {
    return sentBytes;
  }
}
