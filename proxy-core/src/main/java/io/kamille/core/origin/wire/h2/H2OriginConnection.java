package io.kamille.core.origin.wire.h2;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.h2.H2Connection;
import io.kamille.core.h2.H2Owner;
import io.kamille.core.h2.H2Settings;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.wire.OriginExchange;
import io.kamille.core.origin.wire.OriginProgress;
import io.kamille.core.origin.wire.OriginSocket;
import io.kamille.core.origin.wire.OriginTrouble;
import io.kamille.core.origin.wire.RequestConnection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Settings;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One connection to an origin in HTTP/2: many requests at a time (RFC 9113). Confined. */
public final class H2OriginConnection extends RequestConnection
    implements OriginSocket.Owner, H2Owner.Client {

  /*
   * It counts as open once the origin has said what it allows: before that, nobody knows how many
   * streams it takes, and one too many ends the connection with some servers. An origin that allows
   * none has as long for that as for the whole handshake, and counts as unreachable then.
   *
   * While requests are under way, an origin that has sent nothing for a while is asked for a sign
   * of life. After GOAWAY no stream is opened any more; those that the origin has not looked at are
   * sent again elsewhere, the others come to their end here.
   */
  /** Requests that one connection carries at a time, if the origin allows as many. */
  public static final int MOST_STREAMS = 100;

  private static final int MOST_WINDOW_BYTES = 16 * 1024 * 1024;
  private static final long PING_AFTER_NANOS = Duration.ofSeconds(10).toNanos();
  private static final long PING_TIMEOUT_NANOS = Duration.ofSeconds(5).toNanos();

  /** Who waits for it to open. */
  public interface Opening {

    /** It can be lent. */
    void ready();

    /** It cannot, and is closed: the origin did this. */
    void failed(ErrorType kind, String reason);
  }

  private final H2Lines lines;
  private final BooleanSupplier isCurrent;
  private final ConnectionPool<RequestConnection> pool;
  private final OriginTrouble trouble;
  private final OriginSocket socket;
  private final Opening opening;
  private @Nullable H2Connection h2;
  private @Nullable Failure fault;
  private String what = "";
  private int allowedStreams = MOST_STREAMS;
  private int windowBytesLeft = MOST_WINDOW_BYTES;
  private boolean isReady;
  private boolean isClosed;
  private boolean takesNoMore;
  private boolean hasTakenSome;
  private boolean isUsed;
  private boolean endIsCounted;
  private boolean hasHeard;
  private boolean isPinged;
  private long sinceNanos;

  /**
   * A connection still to be opened: its {@link #handler} goes into the pipeline of a channel on
   * the pool's loop, and {@link #start} follows once that is open.
   *
   * @param isCurrent whether the origin still has the address that this connection leads to
   */
  public H2OriginConnection(
      H2Lines lines,
      BooleanSupplier isCurrent,
      ConnectionPool<RequestConnection> pool,
      Opening opening) {
    this.lines = lines;
    this.isCurrent = isCurrent;
    this.pool = pool;
    this.opening = opening;
    this.trouble = new OriginTrouble(lines.origin());
    this.socket = new OriginSocket(this, this::heard);
  }

  /** What connects this to its channel; once. */
  public ChannelHandler handler() {
    return socket;
  }

  @Override
  public void added(ChannelHandlerContext context) {
    h2 =
        H2Connection.toOrigin(
            this, H2Settings.origins(), lines.sink(), lines.section(), lines.clock(), context);
  }

  private H2Connection h2() {
    return Objects.requireNonNull(h2, "not in the pipeline yet");
  }

  /** Begins to speak; the channel is open. */
  public void start(Duration timeout) {
    h2().start();
    socket
        .channel()
        .eventLoop()
        .schedule(
            () -> {
              if (!isReady && !isClosed) {
                end("allowed no request of HTTP/2 in time");
              }
            },
            timeout.toNanos(),
            TimeUnit.NANOSECONDS);
  }

  // For requests

  @Override
  public boolean isFresh() {
    return !isUsed || !h2().isIdle();
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public OriginExchange exchange() {
    isUsed = true;
    if (h2().isIdle()) {
      hasHeard = true;
      trouble.forget();
    }
    return h2().open((carrier, id) -> new H2OriginStream(carrier, id, this)).exchange();
  }

  H2Lines lines() {
    return lines;
  }

  /** The header section of a request in the scratch of the loop. */
  HpackWriter section(Exchange exchange, long contentLength, boolean expects) {
    HpackWriter section = h2().section();
    lines.head().write(exchange, contentLength, lines.origin(), lines.isSecure(), expects, section);
    return section;
  }

  /** Sends what may be sent. */
  void sendReady() {
    if (!isClosed) {
      h2().sendReady();
    }
  }

  /** Lends a stream so many octets of window, or as many as are left for all. */
  int lendWindow(int bytes) {
    int lent = Math.min(bytes, windowBytesLeft);
    windowBytesLeft -= lent;
    return lent;
  }

  void returnWindow(int bytes) {
    windowBytesLeft += bytes;
  }

  /** The origin did this. */
  Failure failure(ErrorType kind, String what) {
    return trouble.failure(kind, what);
  }

  /** A stream ended before its time, by this code or with the whole connection. */
  Failure ended(ErrorType kind, Http2Error code, String where) {
    if (fault != null) {
      return fault;
    }
    return isClosed
        ? trouble.closed(kind, where)
        : trouble.failure(kind, "reset the stream by " + code + where);
  }

  /** How far the origin came with a stream that it refuses. */
  OriginProgress refusal() {
    return takesNoMore && hasTakenSome ? OriginProgress.LEFT : OriginProgress.NONE;
  }

  /** How far it may have come with another one that ended before its head. */
  OriginProgress afterReset() {
    return isClosed || fault != null ? OriginProgress.UNKNOWN : OriginProgress.RESET;
  }

  /**
   * Whether the failure of a stream tells of the origin, and no other one has told the same: what
   * ends with the whole connection counts once.
   */
  boolean isCounted(OriginProgress progress) {
    boolean isWhole = isClosed || fault != null || (takesNoMore && progress.isUntouched());
    boolean isCounted = !isWhole || !endIsCounted;
    endIsCounted |= isWhole;
    return isCounted;
  }

  // What the origin says of the connection

  @Override
  public void settings(Http2Settings given) {
    Long streams = given.maxConcurrentStreams();
    if (streams != null) {
      allowedStreams = (int) Math.min(streams, MOST_STREAMS);
    }
    if (isReady) {
      pool.placesChanged(this);
    } else if (allowedStreams > 0) {
      isReady = true;
      opening.ready();
    }
  }

  @Override
  public void goAway(int lastId) {
    takesNoMore = true;
    hasTakenSome = lastId > 0;
    if (!isReady) {
      fault(ErrorType.CONNECTION_TERMINATED, "takes no requests");
    }
    h2().refused(lastId);
    if (isReady && !isClosed) {
      pool.placesChanged(this);
      closeIfDone();
    }
  }

  @Override
  public void over(H2Stream stream) {
    if (!isClosed) {
      pool.release(this);
    }
  }

  private void closeIfDone() {
    if (!isClosed && h2().isIdle() && places() == 0) {
      close();
    }
  }

  @Override
  public void failed(Http2Error code, String reason) {
    fault(ErrorType.HTTP_PROTOCOL_ERROR, "broke the rules of HTTP/2: " + reason);
  }

  private void fault(ErrorType kind, String did) {
    what = did;
    fault = failure(kind, did);
  }

  // For the pool

  @Override
  protected int places() {
    return takesNoMore || isClosed || !h2().canOpen() ? 0 : allowedStreams;
  }

  @Override
  protected boolean isOpen() {
    return !isClosed && socket.isOpen();
  }

  @Override
  protected boolean isCurrent() {
    return isCurrent.getAsBoolean();
  }

  @Override
  protected void tick(long nowNanos) {
    if (hasHeard) {
      hasHeard = false;
      isPinged = false;
      sinceNanos = nowNanos;
    } else if (!isPinged && nowNanos - sinceNanos >= PING_AFTER_NANOS) {
      isPinged = true;
      sinceNanos = nowNanos;
      h2().ping();
    } else if (isPinged && nowNanos - sinceNanos >= PING_TIMEOUT_NANOS) {
      fault(ErrorType.CONNECTION_READ_TIMEOUT, "gave no sign of life");
      close();
      return;
    }
    for (H2Stream stream : h2().streams()) {
      ((H2OriginStream) stream).tick(nowNanos);
    }
  }

  /** Ends the connection. Requests under way are told so. */
  @Override
  protected void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    if (isReady) {
      pool.forget(this);
    }
    h2().goodbye();
    h2().gone();
    socket.channel().flush();
    socket.channel().close();
  }

  /** Closes what is not open yet, or what broke the rules. */
  private void end(String why) {
    boolean wasReady = isReady;
    close();
    if (!wasReady) {
      opening.failed(ErrorType.HTTP_PROTOCOL_ERROR, why);
    }
  }

  // From the socket

  private void heard() {
    hasHeard = true;
  }

  @Override
  public void read(ByteBuf in) {
    if (isClosed) {
      return;
    }
    h2().receive(in);
    if (fault != null) {
      end(what);
    }
  }

  @Override
  public void burstEnds() {
    if (!isClosed) {
      h2().burstEnds();
    }
  }

  @Override
  public void writable() {
    sendReady();
  }

  @Override
  public void inputClosed() {
    inactive();
  }

  /** A failure to write is no failure yet: answers may lie in our receive buffer already. */
  @Override
  public void caught(Throwable cause) {
    trouble.caught(cause);
    if (trouble.isOurs()) {
      socket.channel().close();
    }
  }

  @Override
  public void inactive() {
    boolean wasReady = isReady;
    if (!isClosed) {
      close();
      if (!wasReady) {
        opening.failed(
            ErrorType.CONNECTION_TERMINATED, "closed the connection before its settings");
      }
    }
  }

  // The wire

  @Override
  public ByteBufAllocator allocator() {
    return socket.channel().alloc();
  }

  @Override
  public void write(ByteBuf octets) {
    socket.output().write(octets);
    socket.output().flushSoon();
  }

  @Override
  public boolean isWritable() {
    return socket.output().isWritable();
  }

  /** What asks for answers is bounded by the budget of the connection. */
  @Override
  public boolean isOverfull() {
    return false;
  }
}
