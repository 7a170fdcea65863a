package io.kamille.core.upstream.h1;

import io.kamille.core.content.ContentSink;
import io.kamille.core.content.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.ContentDecoder;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.h1.ResponseParser;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.upstream.pool.ConnectionPool;
import io.kamille.core.upstream.pool.PooledConnection;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection to an origin in HTTP/1.1: a request out, its response in, and again (RFC 9112).
 * Confined to its loop.
 */
public final class OriginConnection extends PooledConnection<OriginConnection>
    implements ContentSource {

  /*
   * Which octets belong to which response is the one thing that must never go wrong here. So a
   * connection carries one request at a time, and is lent again only when the response had a
   * definite end, the request was sent whole, and the burst of reads that brought the end brought
   * nothing behind it and found the socket empty. Whatever comes without having been asked for
   * closes the connection. So does a request with content that the origin may well have ignored:
   * it would read it as the next request.
   *
   * An origin may answer before it has read the request. An error means that it will not read the
   * rest, so nothing more is sent; after any other status both directions go on until the response
   * ends. A failure to write is no failure yet: the answer may lie in our receive buffer already.
   *
   * Deadlines are looked at by the tick of the pool. Reads and writes only leave a mark, so that no
   * clock is read for a chunk: the time of quiet begins at the first tick that finds no mark. The
   * response head has a deadline that nothing the origin sends moves; it counts while it is the
   * origin's turn: from the first tick that finds the request sent, or the head begun.
   */
  private static final System.Logger LOG = System.getLogger("kamille.upstream");
  private static final int MAX_INTERIM = 16;

  /** What a 304 may answer (RFC 9110 §13.1). */
  private static final long PRECONDITIONS =
      Fields.mask(
          FieldName.IF_MATCH,
          FieldName.IF_NONE_MATCH,
          FieldName.IF_MODIFIED_SINCE,
          FieldName.IF_UNMODIFIED_SINCE);

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
  private final ConnectionPool<OriginConnection> pool;
  private final ConnectionSettings settings;
  private final ForwardedHead forwardedHead;
  private final ResponseParser parser;
  private final Runnable flush = this::flush;
  private final ContentSink relay = new Relay();

  private @Nullable Channel channel;
  private @Nullable Attempt attempt;
  private @Nullable ContentUpload upload;
  private @Nullable ContentDecoder decoder;
  private @Nullable Tunnel tunnel;
  private @Nullable Throwable trouble;
  private State state = State.IDLE;
  private Method method = Method.GET;
  private boolean isConditional;
  private int interims;
  private boolean fresh = true;
  private boolean reusable;
  private boolean upgrades;
  private boolean awaitsContinue;
  private boolean paused;
  private boolean flushPlanned;
  private boolean moved;
  private boolean isOriginsTurn;
  private long quietSinceNanos;
  private long turnSinceNanos;

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
      ConnectionPool<OriginConnection> pool,
      ConnectionSettings settings,
      ForwardedHead forwardedHead) {
    this.origin = origin;
    this.isCurrent = isCurrent;
    this.pool = pool;
    this.settings = settings;
    this.forwardedHead = forwardedHead;
    this.parser = new ResponseParser(settings.headLimits());
  }

  /** What connects this to its channel; once. */
  public ChannelHandler handler() {
    return new Wire();
  }

  /** Whether it has carried no request yet. A used one may be closed by the origin any moment. */
  public boolean isFresh() {
    return fresh;
  }

  // Sending

  /** Sends the request of {@code attempt}, which must have no other connection. */
  public void send(Attempt attempt) {
    assert state == State.IDLE : state;
    Exchange exchange = attempt.exchange();
    RequestHead request = exchange.request();
    Fields fields = request.fields();
    long contentLength = attempt.content().length();
    this.attempt = attempt;
    state = State.HEAD;
    method = request.method();
    isConditional = fields.hasAny(PRECONDITIONS);
    interims = 0;
    reusable = contentLength == 0 || expectsContent(method);
    trouble = null;
    upgrades = wantsUpgrade(request);
    awaitsContinue =
        contentLength != 0 && request.minorVersion() == 1 && fields.has(FieldName.EXPECT);
    moved = true;
    isOriginsTurn = false;
    upload = null;
    Channel out = channel();
    ByteBuf head = forwardedHead.write(exchange, origin, awaitsContinue, upgrades, out.alloc());
    if (contentLength == 0) {
      out.writeAndFlush(head, out.voidPromise());
      return;
    }
    out.write(head, out.voidPromise());
    flushSoon();
    upload = new ContentUpload(this, out, attempt.content());
    if (!awaitsContinue) {
      upload.start();
    }
  }

  /** Content of the others means nothing, and may be left unread (RFC 9110 §9.3.1, .2, .5). */
  private static boolean expectsContent(Method method) {
    return method != Method.GET && method != Method.HEAD && method != Method.DELETE;
  }

  /** HTTP/2 in the clear is between neighbours; every other protocol may be switched to. */
  private static boolean wantsUpgrade(RequestHead request) {
    Fields fields = request.fields();
    if (!fields.has(FieldName.UPGRADE)
        || request.minorVersion() == 0
        || !ConnectionFields.names(fields, "upgrade")) {
      return false;
    }
    for (String protocol : fields.all(FieldName.UPGRADE)) {
      if (protocol.toLowerCase(Locale.ROOT).contains("h2c")) {
        return false;
      }
    }
    return true;
  }

  private void startUpload() {
    awaitsContinue = false;
    ContentUpload waiting = upload;
    if (waiting != null && !waiting.isStarted() && !waiting.isOver()) {
      moved = true;
      isOriginsTurn = false;
      waiting.start();
    }
  }

  /** Octets were queued: they leave at the end of the turn, or now if there are many. */
  void sending() {
    moved = true;
    if (channel().isWritable()) {
      flushSoon();
    } else {
      channel().flush();
    }
  }

  private void flushSoon() {
    if (!flushPlanned) {
      flushPlanned = true;
      channel().eventLoop().execute(flush);
    }
  }

  private void flush() {
    flushPlanned = false;
    channel().flush();
  }

  /** What no request may carry, in its trailers neither. */
  RemovedFields removedFields() {
    return forwardedHead.removed();
  }

  /** The client did not send all it had announced: the origin must not believe it did. */
  void uploadBroke(Failure why) {
    if (state == State.HEAD || state == State.CONTENT) {
      fail(why);
    }
  }

  // Receiving

  private void read(ByteBuf in) {
    moved = true;
    while (in.isReadable()) {
      switch (state) {
        case IDLE -> {
          close();
          return;
        }
        case HEAD -> head(in);
        case CONTENT -> content(in);
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

  private void head(ByteBuf in) {
    switch (parser.parse(in)) {
      case NEED_MORE -> {}
      case MALFORMED -> fail(because(parser.failure()));
      case COMPLETE -> headIsComplete(parser.head(), in);
    }
  }

  private void headIsComplete(ResponseHead head, ByteBuf in) {
    if (ConnectionFields.isExcessive(head.fields())) {
      fail(failure(Kind.HTTP_PROTOCOL_ERROR, "sent a Connection field that names too much"));
    } else if (head.isInterim()) {
      interim(head);
    } else if (head.status() == StatusCode.SWITCHING_PROTOCOLS) {
      switchProtocols(head);
    } else if (answersWhatWasNotAsked(head.status())) {
      fail(failure(Kind.HTTP_PROTOCOL_ERROR, "sent a " + head.status() + " nobody asked for"));
    } else {
      begin(head, in);
    }
  }

  /** A 100 is for the content that waits for it; the server side tells the client itself. */
  private void interim(ResponseHead head) {
    if (++interims > MAX_INTERIM) {
      fail(failure(Kind.HTTP_PROTOCOL_ERROR, "sent more than 16 interim responses"));
      return;
    }
    if (head.status() == StatusCode.CONTINUE) {
      startUpload();
    } else {
      ConnectionFields.remove(head.fields());
      current().reply().interim(head);
    }
    if (state == State.HEAD) {
      parser.reset();
    }
  }

  /**
   * Whether this is a 304 to a request without precondition: the client holds nothing that it could
   * be about (RFC 9110 §15.4.5). A 206 or 416 is let through: some APIs page by them, unasked.
   */
  private boolean answersWhatWasNotAsked(int status) {
    return status == StatusCode.NOT_MODIFIED && !isConditional;
  }

  private void begin(ResponseHead head, ByteBuf in) {
    long framing = MessageFraming.of(head, method);
    long length =
        head.status() == StatusCode.NO_CONTENT ? 0 : Math.max(MessageFraming.declared(head), -1);
    reusable &= framing != MessageFraming.UNTIL_CLOSE && isPersistent(head);
    ConnectionFields.remove(head.fields());
    head.fields().remove(FieldName.CONTENT_LENGTH);
    awaitsContinue = false;
    if (head.status() >= StatusCode.BAD_REQUEST) {
      stopUpload();
    }
    state = State.CONTENT;
    Attempt answered = current();
    answered.answered(head.status());
    answered.reply().head(head, length);
    if (state != State.CONTENT) {
      return;
    }
    if (framing >= 0 && framing <= in.readableBytes()) {
      whole(in, (int) framing);
    } else {
      decoder = ContentDecoder.of(framing);
    }
  }

  /** All content came with the head, as it does for most small responses: nothing to decode. */
  private void whole(ByteBuf in, int length) {
    if (length > 0) {
      relay.write(in.readRetainedSlice(length));
    }
    relay.end(null);
  }

  private static boolean isPersistent(ResponseHead head) {
    Fields fields = head.fields();
    return head.minorVersion() == 1
        ? !ConnectionFields.names(fields, "close")
        : ConnectionFields.names(fields, "keep-alive");
  }

  private void content(ByteBuf in) {
    ContentDecoder present = decoder;
    if (present == null) {
      throw new IllegalStateException("content before its head");
    }
    if (present.decode(in, relay) == ContentDecoder.Outcome.MALFORMED && state == State.CONTENT) {
      fail(because(present.failure()));
    }
  }

  /** The response has come to its proper end. */
  private void complete(@Nullable Fields trailers) {
    stopUpload();
    Attempt ended = current();
    attempt = null;
    decoder = null;
    state = State.ENDED;
    ended.ended();
    ended.reply().end(trailers);
  }

  private void stopUpload() {
    ContentUpload unfinished = upload;
    if (unfinished != null && !unfinished.isOver()) {
      reusable = false;
      unfinished.stop(failure(Kind.CONNECTION_TERMINATED, "did not read the whole request"));
    }
  }

  /** At the end of a burst of reads: back to the pool, or away. */
  private void settle() {
    if (state != State.ENDED) {
      return;
    }
    if (!reusable || mayHoldMore()) {
      close();
      return;
    }
    state = State.IDLE;
    fresh = false;
    parser.reset();
    resume();
    pool.release(this);
  }

  /**
   * Whether the last read of the burst filled its buffer. Then the burst was cut short, by a pause
   * or because it was long, and what lies behind the response may not have been read yet.
   */
  private boolean mayHoldMore() {
    var reads = channel().unsafe().recvBufAllocHandle();
    return reads.lastBytesRead() > 0 && reads.lastBytesRead() == reads.attemptedBytesRead();
  }

  // Another protocol

  private void switchProtocols(ResponseHead head) {
    if (!upgrades || isUploading()) {
      fail(failure(Kind.HTTP_PROTOCOL_ERROR, "switched protocols without being asked"));
      return;
    }
    String protocol = head.fields().joined(FieldName.UPGRADE);
    ConnectionFields.remove(head.fields());
    head.fields().remove(FieldName.CONTENT_LENGTH);
    if (protocol != null) {
      head.fields().add(FieldName.UPGRADE, protocol);
    }
    Attempt switched = current();
    state = State.TUNNEL;
    channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
    switched.answered(head.status());
    switched.reply().head(head, -1);
    if (state == State.TUNNEL) {
      tunnel = new Tunnel(this, channel(), switched.content());
      tunnel.open();
    }
  }

  private void originClosedItsSide() {
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
  void tunnelIsOver() {
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
    if (trouble == null) {
      over.reply().end(null);
    } else {
      over.reply().abort(failure(Kind.CONNECTION_TERMINATED, how() + " within the tunnel"));
    }
  }

  // The end

  /** A socket broke, which its close will confirm; anything else is a fault of ours. */
  private void caught(Throwable cause) {
    trouble = cause;
    reusable = false;
    if (!(cause instanceof IOException)) {
      LOG.log(Level.ERROR, "a fault of ours on the connection to " + origin, cause);
      channel().close();
    } else if (state == State.TUNNEL) {
      channel().close();
    } else {
      stopUpload();
    }
  }

  private void inactive() {
    if (isOurFault() && attempt != null) {
      fail(Failure.of(Kind.PROXY_INTERNAL_ERROR, "a fault in the proxy"));
      return;
    }
    switch (state) {
      case HEAD -> fail(closedBefore(parser.isBegun() ? "within" : "before"));
      case CONTENT -> {
        if (decoder != null && decoder.endsWithConnection() && trouble == null) {
          complete(null);
          close();
        } else {
          fail(failure(Kind.HTTP_RESPONSE_INCOMPLETE, how() + " within the response content"));
        }
      }
      case TUNNEL -> {
        if (tunnel != null) {
          tunnel.stop(failure(Kind.CONNECTION_TERMINATED, how()));
        }
        tunnelIsOver();
      }
      case IDLE, ENDED -> close();
      case CLOSED -> {}
    }
  }

  /** What is not the socket's trouble says nothing of the origin. */
  private boolean isOurFault() {
    return trouble != null && !(trouble instanceof IOException);
  }

  private Failure closedBefore(String place) {
    return failure(Kind.CONNECTION_TERMINATED, how() + " " + place + " the response head");
  }

  private String how() {
    return trouble == null ? "closed the connection" : "broke the connection";
  }

  /** Ends the attempt and the connection. */
  private void fail(Failure why) {
    boolean mayRepeat =
        state == State.HEAD
            && !parser.isBegun()
            && interims == 0
            && (upload == null || !upload.isStarted());
    Attempt failed = current();
    attempt = null;
    if (upload != null) {
      upload.stop(why);
    }
    close();
    failed.failed(why, mayRepeat);
  }

  /** Ends the connection. Whoever waits for something from it has been told. */
  private void close() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    pool.forget(this);
    channel().close();
  }

  @Override
  protected boolean isOpen() {
    return channel().isActive();
  }

  @Override
  protected boolean isCurrent() {
    return isCurrent.getAsBoolean();
  }

  @Override
  protected void discard() {
    close();
  }

  @Override
  protected void tick(long nowNanos) {
    if (state == State.HEAD && mustSendHead()) {
      headDeadline(nowNanos);
      return;
    }
    isOriginsTurn = false;
    if (moved) {
      moved = false;
      quietSinceNanos = nowNanos;
      return;
    }
    long quietNanos = nowNanos - quietSinceNanos;
    switch (state) {
      case HEAD -> uploadDeadline(quietNanos);
      case CONTENT -> contentDeadline(quietNanos);
      case TUNNEL -> {
        if (quietNanos >= settings.tunnelTimeout().toNanos()) {
          inactive();
        }
      }
      case IDLE, ENDED, CLOSED -> {}
    }
  }

  @Override
  protected void broken(Throwable fault) {
    caught(fault);
  }

  /** Whether the origin has the request, or has begun to answer without it; and may go on. */
  private boolean mustSendHead() {
    return !paused && (awaitsContinue || !isUploading() || parser.isBegun());
  }

  private void headDeadline(long nowNanos) {
    if (!isOriginsTurn) {
      isOriginsTurn = true;
      turnSinceNanos = nowNanos;
      return;
    }
    long turnNanos = nowNanos - turnSinceNanos;
    if (awaitsContinue && !parser.isBegun()) {
      if (turnNanos >= settings.continueTimeout().toNanos()) {
        startUpload();
      }
    } else if (turnNanos >= settings.headTimeout().toNanos()) {
      fail(
          failure(
              Kind.HTTP_RESPONSE_TIMEOUT,
              "sent no complete response head in " + settings.headTimeout().toMillis() + " ms"));
    }
  }

  private void uploadDeadline(long quietNanos) {
    if (paused || channel().isWritable()) {
      // It is the client who is slow.
      moved = true;
    } else if (quietNanos >= settings.contentTimeout().toNanos()) {
      fail(late(Kind.CONNECTION_WRITE_TIMEOUT, "took no content", settings.contentTimeout()));
    }
  }

  private void contentDeadline(long quietNanos) {
    if (paused || (isUploading() && channel().isWritable())) {
      moved = true;
    } else if (quietNanos >= settings.contentTimeout().toNanos()) {
      fail(late(Kind.CONNECTION_READ_TIMEOUT, "sent no content", settings.contentTimeout()));
    }
  }

  private boolean isUploading() {
    return upload != null && !upload.isOver();
  }

  private Failure late(Kind kind, String what, Duration limit) {
    return failure(kind, what + " for " + limit.toMillis() + " ms");
  }

  private Failure because(Failure why) {
    return failure(why.kind(), "sent " + why.reason());
  }

  private Failure failure(Kind kind, String what) {
    return Failure.of(kind, origin + " " + what);
  }

  // The client's side: back-pressure, and gone

  @Override
  public void pause() {
    if (!paused) {
      paused = true;
      channel().config().setAutoRead(false);
    }
  }

  @Override
  public void resume() {
    if (paused && state != State.CLOSED) {
      paused = false;
      channel().config().setAutoRead(true);
    }
  }

  /** Nobody wants the response any more. The attempt is told nothing. */
  @Override
  public void cancel(Failure why) {
    attempt = null;
    if (upload != null) {
      upload.stop(why);
    }
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

  private Channel channel() {
    if (channel == null) {
      throw new IllegalStateException("no channel yet");
    }
    return channel;
  }

  /** Passes decoded content on, unless the client went away in the middle of a burst. */
  private final class Relay implements ContentSink {

    @Override
    public void write(ByteBuf chunk) {
      if (state == State.CONTENT) {
        current().reply().write(chunk);
      } else {
        chunk.release();
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      if (state == State.CONTENT) {
        complete(trailers);
      }
    }

    @Override
    public void abort(Failure why) {
      throw new IllegalStateException("a decoder does not abort: " + why);
    }
  }

  /** The end of the channel's pipeline. */
  private final class Wire extends ChannelInboundHandlerAdapter {

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      channel = context.channel();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf in = (ByteBuf) message;
      try {
        read(in);
      } finally {
        in.release();
      }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      settle();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      if (context.channel().isWritable()) {
        moved = true;
        if (upload != null) {
          upload.resume();
        }
        if (tunnel != null) {
          tunnel.resume();
        }
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event == ChannelInputShutdownEvent.INSTANCE) {
        originClosedItsSide();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      caught(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      inactive();
    }
  }
}
