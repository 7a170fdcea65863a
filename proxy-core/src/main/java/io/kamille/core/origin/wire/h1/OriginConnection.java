package io.kamille.core.origin.wire.h1;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.wire.Attempt;
import io.kamille.core.origin.wire.ForwardedHead;
import io.kamille.core.origin.wire.OriginDeadlines;
import io.kamille.core.origin.wire.OriginDeadlines.Awaited;
import io.kamille.core.origin.wire.OriginSocket;
import io.kamille.core.origin.wire.OriginTrouble;
import io.kamille.core.origin.wire.Repeat;
import io.kamille.core.origin.wire.RequestCarrier;
import io.kamille.core.origin.wire.RequestConnection;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection to an origin in HTTP/1.1: a request out, its response in, and again (RFC 9112).
 * Confined to its loop.
 */
public final class OriginConnection extends RequestConnection
    implements RequestCarrier, OriginSocket.Owner, ResponseReader.Owner {

  /*
   * Which octets belong to which response must never go wrong here. So a connection carries one
   * request at a time, and is lent again only when the response had a definite end, the request was
   * sent whole, and the burst of reads that brought the end brought nothing behind it and found the
   * socket empty. Whatever comes unasked closes the connection. So does a request with content that
   * the origin may well have ignored: it would read it as the next request.
   *
   * An origin may answer before it has read the request. After an error nothing more is sent, after
   * any other status both directions go on until the response ends. A failure to write is no
   * failure yet: the answer may lie in our receive buffer already.
   */

  private enum State {
    /** No request: in the pool, or just opened. */
    IDLE,
    /** A request was sent, at least in part; its final response head is to come. */
    HEAD,
    CONTENT,
    /** The response is complete; at the end of the burst the connection is lent again or closed. */
    ENDED,
    TUNNEL,
    CLOSED
  }

  private final String origin;
  private final BooleanSupplier isCurrent;
  private final ConnectionPool<RequestConnection> pool;
  private final OriginTrouble trouble;
  private final OriginDeadlines deadlines;
  private final OriginSocket socket;
  private final RequestSender sender;
  private final ResponseReader reader;
  private @Nullable Attempt attempt;
  private @Nullable Tunnel tunnel;
  private State state = State.IDLE;
  private boolean fresh = true;
  private boolean reusable;

  /**
   * A connection still to be opened: its {@link #handler} goes into the pipeline of a channel on
   * the pool's loop.
   *
   * @param origin its name, for reasons and for requests that name no host
   * @param isCurrent whether the origin still has the address that this connection leads to
   */
  public OriginConnection(
      String origin,
      BooleanSupplier isCurrent,
      ConnectionPool<RequestConnection> pool,
      ConnectionSettings settings,
      ForwardedHead forwardedHead) {
    this.origin = origin;
    this.isCurrent = isCurrent;
    this.pool = pool;
    this.trouble = new OriginTrouble(origin);
    this.deadlines = new OriginDeadlines(settings);
    this.socket = new OriginSocket(this, deadlines::moved);
    this.sender = new RequestSender(origin, settings, forwardedHead, deadlines, this::fail);
    this.reader = new ResponseReader(this, settings.headLimits());
  }

  /** What connects this to its channel; once. */
  public ChannelHandler handler() {
    return socket;
  }

  @Override
  public boolean isFresh() {
    return fresh;
  }

  // The request

  @Override
  public RequestCarrier carrier() {
    return this;
  }

  @Override
  public void send(Attempt attempt) {
    assert state == State.IDLE : state;
    this.attempt = attempt;
    state = State.HEAD;
    trouble.forget();
    reader.begin(attempt.exchange().request());
    reusable = sender.send(attempt, socket.output());
  }

  private void stopUpload() {
    if (sender.isUploading()) {
      reusable = false;
      sender.stop(trouble.failure(Kind.CONNECTION_TERMINATED, "did not read the whole request"));
    }
  }

  // The response

  @Override
  public void read(ByteBuf in) {
    while (in.isReadable()) {
      switch (state) {
        case IDLE -> {
          close();
          return;
        }
        case HEAD -> reader.head(in);
        case CONTENT -> reader.content(in);
        case ENDED -> {
          reusable = false;
          return;
        }
        case TUNNEL -> current().reply().write(in.readRetainedSlice(in.readableBytes()));
        case CLOSED -> {
          return;
        }
      }
    }
  }

  @Override
  public void interim(ResponseHead head) {
    current().reply().interim(head);
  }

  @Override
  public void continues() {
    sender.startUpload();
  }

  @Override
  public boolean head(ResponseHead head, long length, boolean persists, @Nullable ByteBuf whole) {
    reusable &= persists;
    sender.awaitNoContinue();
    if (head.status() >= StatusCode.BAD_REQUEST) {
      stopUpload();
    }
    state = State.CONTENT;
    Attempt answered = current();
    answered.answered(head);
    return answered.reply().head(head, length, whole);
  }

  @Override
  public boolean wantsContent() {
    return state == State.CONTENT;
  }

  @Override
  public void content(ByteBuf chunk) {
    current().reply().write(chunk);
  }

  @Override
  public void complete(@Nullable Fields trailers) {
    stopUpload();
    Attempt ended = current();
    attempt = null;
    state = State.ENDED;
    ended.ended();
    ended.reply().end(trailers);
  }

  @Override
  public void refuse(Kind kind, String what) {
    fail(trouble.failure(kind, what));
  }

  @Override
  public void burstEnds() {
    if (state != State.ENDED) {
      return;
    }
    if (!reusable || socket.mayHoldMore()) {
      close();
      return;
    }
    state = State.IDLE;
    fresh = false;
    socket.resume();
    pool.release(this);
  }

  // Another protocol

  @Override
  public void switched(ResponseHead head) {
    if (!sender.upgrades() || sender.isUploading()) {
      refuse(Kind.HTTP_PROTOCOL_ERROR, "switched protocols without being asked");
      return;
    }
    Attempt switched = current();
    state = State.TUNNEL;
    socket.allowHalfClosure();
    switched.answered(head);
    switched.reply().head(head, -1);
    if (state == State.TUNNEL) {
      tunnel = new Tunnel(socket.output(), switched.content(), this::tunnelIsOver);
      tunnel.open();
    }
  }

  @Override
  public void inputClosed() {
    if (state != State.TUNNEL) {
      close();
      return;
    }
    current().reply().end(null);
    if (tunnel != null) {
      tunnel.originEnded();
    }
  }

  /** Both sides have said all they had to say, or one of them is gone. */
  private void tunnelIsOver() {
    if (state != State.TUNNEL) {
      return;
    }
    Attempt over = current();
    attempt = null;
    close();
    over.ended();
    if (over.reply().isEnded()) {
      return;
    }
    if (trouble.isNone()) {
      over.reply().end(null);
    } else {
      over.reply().abort(trouble.closed(Kind.CONNECTION_TERMINATED, " within the tunnel"));
    }
  }

  // The end

  @Override
  public void caught(Throwable cause) {
    trouble.caught(cause);
    reusable = false;
    if (trouble.isOurs() || state == State.TUNNEL) {
      socket.channel().close();
    } else {
      stopUpload();
    }
  }

  @Override
  public void inactive() {
    if (trouble.isOurs() && attempt != null) {
      fail(Failure.of(Kind.PROXY_INTERNAL_ERROR, "a fault in the proxy"));
      return;
    }
    switch (state) {
      case HEAD -> {
        String where = reader.isHeadBegun() ? " within" : " before";
        fail(trouble.closed(Kind.CONNECTION_TERMINATED, where + " the response head"));
      }
      case CONTENT -> {
        if (reader.endsWithConnection() && trouble.isNone() && socket.isEndGenuine()) {
          reader.end();
          close();
        } else {
          fail(trouble.closed(Kind.HTTP_RESPONSE_INCOMPLETE, " within the response content"));
        }
      }
      case TUNNEL -> {
        if (tunnel != null) {
          tunnel.stop(trouble.closed(Kind.CONNECTION_TERMINATED, ""));
        }
        tunnelIsOver();
      }
      case IDLE, ENDED -> close();
      case CLOSED -> {}
    }
  }

  /** Ends the attempt and the connection. */
  private void fail(Failure why) {
    boolean mayRepeat = state == State.HEAD && reader.isSilent() && !sender.hasTakenContent();
    Attempt failed = attempt;
    attempt = null;
    sender.stop(why);
    close();
    if (failed != null) {
      failed.failed(why, mayRepeat ? Repeat.IF_IDEMPOTENT : Repeat.NEVER, true);
    }
  }

  @Override
  protected void close() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    pool.forget(this);
    socket.channel().close();
  }

  // For the pool

  @Override
  protected boolean isOpen() {
    return socket.isOpen();
  }

  @Override
  protected boolean isCurrent() {
    return isCurrent.getAsBoolean();
  }

  @Override
  protected void tick(long nowNanos) {
    Awaited awaited = awaited();
    if (deadlines.isLate(awaited, nowNanos)) {
      switch (awaited) {
        case CONTINUE -> sender.startUpload();
        case TUNNEL -> inactive();
        default -> fail(deadlines.failure(awaited, origin));
      }
    }
  }

  private Awaited awaited() {
    return switch (state) {
      case HEAD -> sender.awaited(socket, reader.isHeadBegun());
      case CONTENT -> sender.awaitedWithContent(socket);
      case TUNNEL -> Awaited.TUNNEL;
      case IDLE, ENDED, CLOSED -> Awaited.NOTHING;
    };
  }

  // The client's side: back-pressure, and gone

  @Override
  public void writable() {
    sender.resume();
    if (tunnel != null) {
      tunnel.resume();
    }
  }

  @Override
  public void pause() {
    socket.pause();
  }

  @Override
  public void resume() {
    if (state != State.CLOSED) {
      socket.resume();
    }
  }

  /** Nobody wants the response any more. The attempt is told nothing. */
  @Override
  public void cancel(Failure why) {
    attempt = null;
    sender.stop(why);
    if (tunnel != null) {
      tunnel.stop(why);
    }
    close();
  }

  private Attempt current() {
    if (attempt == null) {
      throw new IllegalStateException("no attempt in state " + state);
    }
    return attempt;
  }
}
