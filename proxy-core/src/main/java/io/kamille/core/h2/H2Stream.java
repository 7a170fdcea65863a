package io.kamille.core.h2;

import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One stream: its windows, what waits to be sent on it, and how far each side has come (RFC 9113
 * §5). Who answers it extends it. Confined to its loop.
 */
public abstract class H2Stream {

  /** Content that may wait on one stream before its source has to pause. */
  static final int HIGH_BYTES = 64 * 1024;

  private static final int LOW_BYTES = 32 * 1024;

  // Links of the queue it is in, if any: those that have something to send and the window for it.
  @Nullable H2Stream next;
  @Nullable H2Stream previous;
  boolean isQueued;

  /** The connection below, as a stream sees it. Confined to its loop. */
  public interface Carrier {

    /** Octets that the other side may send on a stream before it gets credit. */
    int receiveWindow();

    /** Octets that a new stream may send. */
    int sendWindow();

    void head(H2Stream stream, HpackWriter section, boolean isLast);

    /** Something may be sent. */
    void wantsToSend(H2Stream stream);

    /** So many octets were passed on: the window of the connection opens again. */
    void credit(int bytes);

    /** Opens the window of the stream. */
    void credit(H2Stream stream, int bytes);

    /** When the stream is to be sent from now on. */
    void priority(H2Stream stream, Priority priority);

    void reset(H2Stream stream, Http2Error code);

    /** Both sides have said all. */
    void ended(H2Stream stream);
  }

  private final Carrier carrier;
  private final int id;
  Priority priority = Priority.DEFAULT;
  private long sendWindow;
  private int receiveWindow;
  private int fullWindow;
  private int creditBytes;
  private @Nullable ArrayDeque<ByteBuf> waiting;
  private long waitingBytes;
  private boolean endWaits;
  private @Nullable Fields trailers;
  private boolean headSent;
  private boolean sentAll;
  private boolean receivedAll;
  private boolean over;
  private boolean isSourcePaused;
  private String fault = "";

  /** The stream {@code id} on this connection. */
  protected H2Stream(Carrier carrier, int id) {
    this.carrier = carrier;
    this.id = id;
    this.sendWindow = carrier.sendWindow();
    this.receiveWindow = carrier.receiveWindow();
    this.fullWindow = receiveWindow;
  }

  // What the other side does

  /** Content came. Takes ownership of the chunk. */
  protected abstract void received(ByteBuf chunk);

  /** The trailers of a request came, of which it becomes the owner; the end follows. */
  protected void receivedTrailers(Fields trailers) {}

  /** All content came. */
  protected abstract void receivedEnd();

  /** The stream ended before its time; once. What waits to be sent is dropped already. */
  protected abstract void broken(Http2Error code, boolean byPeer);

  /** The other side takes less than it is offered. */
  protected abstract void pauseSource();

  /** It takes more again. */
  protected abstract void resumeSource();

  /** A frame with so many octets of content was handed to the socket. */
  protected abstract void sent(int bytes);

  /** The last octet was handed to the socket. */
  protected abstract void sentEnd();

  // What is asked of it

  public int id() {
    return id;
  }

  /** When it is to be sent. */
  public void priority(Priority priority) {
    carrier.priority(this, priority);
  }

  /** Whether the stream is over, whichever way. */
  public boolean isOver() {
    return over;
  }

  /** Whether the other side has sent all. */
  public boolean hasReceivedAll() {
    return receivedAll;
  }

  /** Whether what waits is more than the other side takes. */
  public boolean isBehind() {
    return waitingBytes >= HIGH_BYTES;
  }

  /** Writes a header section: it leaves before all content of this stream. */
  public void sendHead(HpackWriter section, boolean isLast) {
    if (!over && !sentAll) {
      headSent = true;
      carrier.head(this, section, isLast);
      if (isLast) {
        allSent();
      }
    }
  }

  /** Queues content. Takes ownership. */
  public void send(ByteBuf chunk) {
    if (over || endWaits || !chunk.isReadable()) {
      chunk.release();
      return;
    }
    if (waiting == null) {
      waiting = new ArrayDeque<>(4);
    }
    waiting.addLast(chunk);
    waitingBytes += chunk.readableBytes();
    if (isBehind() && !isSourcePaused) {
      isSourcePaused = true;
      pauseSource();
    }
    carrier.wantsToSend(this);
  }

  /** Sends an interim response. */
  public void sendInterim(HpackWriter section) {
    if (!over && !headSent) {
      carrier.head(this, section, false);
    }
  }

  /** Nothing follows what was queued but these trailer fields, which are copied. */
  public void sendEnd(@Nullable Fields trailers) {
    if (!over && !endWaits) {
      endWaits = true;
      this.trailers = trailers == null || trailers.size() == 0 ? null : trailers.copy();
      carrier.wantsToSend(this);
    }
  }

  /** Ends the stream before its time. */
  public void reset(Http2Error code) {
    carrier.reset(this, code);
  }

  /** So many octets that came were passed on: the other side may send as many again. */
  public void credit(int bytes) {
    carrier.credit(bytes);
    if (over || receivedAll) {
      return;
    }
    creditBytes += bytes;
    if (creditBytes >= fullWindow / 2) {
      receiveWindow += creditBytes;
      carrier.credit(this, creditBytes);
      creditBytes = 0;
    }
  }

  /** From now on, so many octets more may be under way to us. */
  protected final void growReceiveWindow(int bytes) {
    fullWindow += bytes;
    creditBytes += bytes;
  }

  /** Octets that may be under way to us. */
  protected final int fullWindow() {
    return fullWindow;
  }

  /** The rule that the other side broke, behind a colon; empty if it broke none. */
  protected final String fault() {
    return fault;
  }

  // For the connection

  /** The other side broke this rule: {@link #broken} follows. */
  void faulty(String rule) {
    fault = ": " + rule;
  }

  void headReceived(boolean isLast) {
    receivedAll = isLast;
  }

  /** Whether a frame could be sent now, were it this one's turn. */
  boolean canSend() {
    return !over && headSent && (waitingBytes > 0 ? sendWindow > 0 : endWaits && !sentAll);
  }

  /** Whether content waits for nothing but the window of this stream. */
  public boolean isBlocked() {
    return !over && waitingBytes > 0 && sendWindow <= 0;
  }

  /** At most so many octets of what waits, in one piece. Gives ownership; null if none waits. */
  @Nullable ByteBuf take(int most) {
    ArrayDeque<ByteBuf> chunks = waiting;
    ByteBuf first = chunks == null ? null : chunks.peekFirst();
    if (chunks == null || first == null) {
      return null;
    }
    int length = (int) Math.min(Math.min(first.readableBytes(), most), sendWindow);
    ByteBuf piece;
    if (length == first.readableBytes()) {
      piece = first;
      chunks.removeFirst();
    } else {
      piece = first.readRetainedSlice(length);
    }
    waitingBytes -= length;
    sendWindow -= length;
    return piece;
  }

  /** Whether no content waits. */
  boolean isDry() {
    return waitingBytes == 0;
  }

  /** Whether the frame taken last is the last of all. */
  boolean isLastTaken() {
    return endWaits && waitingBytes == 0;
  }

  /** Lends each buffer that waits. */
  void forEachWaiting(Consumer<ByteBuf> action) {
    if (waiting != null) {
      waiting.forEach(action);
    }
  }

  /** The frame that was taken is on its way. */
  void taken(int bytes, boolean isLast) {
    sent(bytes);
    if (isLast) {
      allSent();
    } else if (isSourcePaused && waitingBytes <= LOW_BYTES) {
      isSourcePaused = false;
      resumeSource();
    }
  }

  private void allSent() {
    sentAll = true;
    sentEnd();
    if (!over && receivedAll) {
      carrier.ended(this);
    }
  }

  /** Whether the last octet was handed to the socket. */
  public boolean isAllSent() {
    return sentAll;
  }

  @Nullable Fields trailers() {
    return trailers;
  }

  /** So many octets come. Returns false if they are more than the window allows. */
  boolean takeReceiveWindow(int bytes) {
    if (receiveWindow < bytes) {
      return false;
    }
    receiveWindow -= bytes;
    return true;
  }

  /** The other side opens its window, or closes it. Returns false if it becomes too large. */
  boolean growSendWindow(long bytes) {
    sendWindow += bytes;
    return sendWindow <= Integer.MAX_VALUE;
  }

  void arrivedEnd() {
    receivedAll = true;
    receivedEnd();
    if (!over && sentAll) {
      carrier.ended(this);
    }
  }

  void over() {
    over = true;
    release();
  }

  private void release() {
    if (waiting != null) {
      waiting.forEach(ByteBuf::release);
      waiting = null;
    }
    waitingBytes = 0;
  }
}
