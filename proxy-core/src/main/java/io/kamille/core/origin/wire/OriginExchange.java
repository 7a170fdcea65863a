package io.kamille.core.origin.wire;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RemovedFields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.wire.OriginDeadlines.Awaited;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import org.jspecify.annotations.Nullable;

/**
 * One request to an origin and its response, whatever the version of HTTP. In HTTP/1.1 a connection
 * has one, for one request after the other; in HTTP/2 each stream has one. Confined to its loop.
 */
public final class OriginExchange implements ContentSource {

  /*
   *   IDLE ── send ──► HEAD ── final head ──► CONTENT ── complete, failed or cancelled ──► OVER
   *                      └──── switch ──────► TUNNEL ──────────────────────────────────────┘
   *
   * The content of the request goes on beside that, at once or when the origin asks for it by a
   * 100. An origin may answer before it has read the request. After an error nothing more is sent,
   * after any other status both directions go on until the response ends: then nobody reads the
   * rest of the request.
   *
   * Framing is what differs between the versions of HTTP. It tells of heads, content and the end,
   * and is told what to send, and when to give up.
   */
  private static final int MAX_INTERIM = 16;

  /** Who sends the request. */
  public interface Owner {

    /**
     * A valid final head has come and is about to be passed on: there will be no other attempt.
     * Borrows the head until it returns.
     */
    void answered(ResponseHead head);

    /** Its content takes no more time: all was sent, or the origin wants no more of it. */
    void uploaded();

    /** The response is complete, or the tunnel closed; said before the reply ends. */
    void ended();

    /**
     * It came to nothing. Nothing more is said to the reply.
     *
     * @param progress how far the origin may have come
     * @param isCounted whether it tells of the origin, and nobody else has told the same
     */
    void failed(Failure why, OriginProgress progress, boolean isCounted);
  }

  /** The messages on a connection, or on a stream of one. */
  public interface Framing {

    /** Sends the head of a request. */
    void sendHead(Exchange exchange, RequestContent content, boolean expects);

    /** Sends content. Takes ownership. */
    void sendContent(ByteBuf chunk);

    /** All content was sent. */
    void endContent(@Nullable Fields trailers);

    /** No more of the request will be sent, though it is not complete. */
    void stopContent();

    /** Whether the origin takes more content at present. */
    boolean takesMore();

    /** Whether nothing of the request waits to be sent. */
    boolean hasSentAll();

    /** Whether some of a response head has come, but not all. */
    boolean isHeadBegun();

    /** Passes on no more of the response. */
    void pauseResponse();

    void resumeResponse();

    /** The response is complete: said before the reply ends. */
    void completed();

    /** Gives the exchange up for this reason: the origin is told to stop. */
    void abandon(Http2Error code);

    /** Whether a failure tells of the origin, and nobody else has told the same. */
    boolean isCounted(OriginProgress progress);
  }

  private enum State {
    IDLE,
    HEAD,
    CONTENT,
    TUNNEL,
    OVER
  }

  private final Framing framing;
  private final String origin;
  private final RemovedFields removed;
  private final OriginDeadlines deadlines;
  private State state = State.IDLE;
  private @Nullable Owner owner;
  private @Nullable Reply reply;
  private @Nullable ContentSink sink;
  private @Nullable Upload upload;
  private boolean isConditional;
  private boolean awaitsContinue;
  private boolean isPaused;
  private int interims;

  /**
   * No request yet.
   *
   * @param origin its name, for reasons
   * @param removed what trailers of requests may not carry
   */
  public OriginExchange(
      Framing framing, String origin, RemovedFields removed, ConnectionSettings settings) {
    this.framing = framing;
    this.origin = origin;
    this.removed = removed;
    this.deadlines = new OriginDeadlines(settings);
  }

  // The request

  /**
   * Sends a request; the last one is over.
   *
   * @param reply as it was when the exchange came: it may be used a little longer than that
   */
  public void send(Exchange exchange, RequestContent content, Reply reply, Owner owner) {
    assert state == State.IDLE || state == State.OVER : state;
    this.owner = owner;
    this.reply = reply;
    state = State.HEAD;
    interims = 0;
    isPaused = false;
    isConditional = exchange.request().isConditional();
    upload = content.length() == 0 ? null : new Upload(content, exchange.request().isChecked());
    awaitsContinue = upload != null && isContinueExpected(exchange.request(), content);
    deadlines.begin();
    framing.sendHead(exchange, content, awaitsContinue);
    if (!awaitsContinue) {
      startUpload();
    }
  }

  /** Whether the content waits for a 100 that the client has asked for (RFC 9110 §10.1.1). */
  private static boolean isContinueExpected(RequestHead request, RequestContent content) {
    return !content.isAskedFor()
        && request.minorVersion() == 1
        && request.fields().has(FieldName.EXPECT);
  }

  private void startUpload() {
    awaitsContinue = false;
    Upload waiting = upload;
    if (waiting != null && !waiting.isStarted && !waiting.isOver) {
      deadlines.begin();
      waiting.isStarted = true;
      waiting.content.start(waiting);
    }
  }

  /** Whether content is still to be sent. */
  public boolean isUploading() {
    return upload != null && !upload.isOver;
  }

  /** The origin takes no more content for now. */
  public void pauseUpload() {
    if (upload != null && !upload.isOver && !upload.isPaused) {
      upload.isPaused = true;
      upload.content.pause();
    }
  }

  /** The origin takes more again. */
  public void resumeUpload() {
    if (upload != null && !upload.isOver && upload.isPaused) {
      upload.isPaused = false;
      upload.content.resume();
    }
  }

  /** The origin wants no more of the content. */
  public void stopUpload() {
    if (isUploading()) {
      framing.stopContent();
      stopUpload(failure(ErrorType.CONNECTION_TERMINATED, "did not read the whole request"));
      owner().uploaded();
    }
  }

  /** Sends no more, and says so to whom the content comes from. */
  private void stopUpload(Failure why) {
    Upload stopped = upload;
    if (stopped != null && !stopped.isOver) {
      stopped.isOver = true;
      if (stopped.isStarted) {
        stopped.content.cancel(why);
      }
    }
  }

  /** Something was sent or has come. */
  public void moved() {
    deadlines.moved();
  }

  /** The last octet of the request was sent: it is the origin's turn. */
  public void sentAll() {
    deadlines.begin();
  }

  // The response

  /** Whether there is a request that is not over. */
  public boolean isActive() {
    return owner != null;
  }

  public boolean awaitsHead() {
    return state == State.HEAD;
  }

  /** Whether content of the response is awaited. */
  public boolean awaitsContent() {
    return state == State.CONTENT;
  }

  public boolean isTunnel() {
    return state == State.TUNNEL;
  }

  /** An interim response, without fields of the connection. */
  public void interim(ResponseHead head) {
    if (++interims > MAX_INTERIM) {
      refuse(ErrorType.HTTP_PROTOCOL_ERROR, "sent more than " + MAX_INTERIM + " interim responses");
    } else if (head.status() == StatusCode.CONTINUE) {
      startUpload();
    } else {
      reply().interim(head);
    }
  }

  /** Whether a final head answers the request; if not, the exchange has failed. */
  public boolean accepts(ResponseHead head) {
    // The client holds nothing that a 304 could be about (RFC 9110 §15.4.5). A 206 or 416 is let
    // through: some APIs page by them, unasked.
    if (head.status() == StatusCode.NOT_MODIFIED && !isConditional) {
      refuse(ErrorType.HTTP_PROTOCOL_ERROR, "sent a 304 nobody asked for");
      return false;
    }
    return true;
  }

  /**
   * The final head, without fields of the connection.
   *
   * @param length octets of content, or -1
   * @param whole begins with all content, or null; borrowed
   * @return whether the content was taken
   */
  public boolean head(ResponseHead head, long length, @Nullable ByteBuf whole) {
    awaitsContinue = false;
    if (head.status() >= StatusCode.BAD_REQUEST) {
      stopUpload();
    }
    state = State.CONTENT;
    owner().answered(head);
    return reply().head(head, length, whole);
  }

  /** The protocols were switched: octets pass as they come until the end. */
  public void switched(ResponseHead head) {
    state = State.TUNNEL;
    owner().answered(head);
    reply().head(head, -1);
  }

  /** The rest of the content goes there. */
  public void divert(ContentSink other) {
    sink = other;
  }

  /** Content, decoded. Takes ownership. */
  public void content(ByteBuf chunk) {
    sink().write(chunk);
  }

  /** The origin has sent all that goes through the tunnel. */
  public void tunnelEnded() {
    reply().end(null);
  }

  /** The response has come to its proper end. */
  public void complete(@Nullable Fields trailers) {
    stopUpload();
    ContentSink ended = sink();
    Owner told = letGo();
    framing.completed();
    told.ended();
    ended.end(trailers);
  }

  /**
   * The tunnel is over.
   *
   * @param why null if both sides have said all
   */
  public void closeTunnel(@Nullable Failure why) {
    if (state != State.TUNNEL) {
      return;
    }
    Reply ended = reply();
    Owner told = letGo();
    framing.abandon(Http2Error.NO_ERROR);
    told.ended();
    if (ended.isEnded()) {
      return;
    }
    if (why == null) {
      ended.end(null);
    } else {
      ended.abort(why);
    }
  }

  private Owner letGo() {
    Owner told = owner();
    owner = null;
    reply = null;
    sink = null;
    state = State.OVER;
    return told;
  }

  private Owner owner() {
    if (owner == null) {
      throw new IllegalStateException("no request in state " + state);
    }
    return owner;
  }

  private Reply reply() {
    if (reply == null) {
      throw new IllegalStateException("no request in state " + state);
    }
    return reply;
  }

  private ContentSink sink() {
    return sink == null ? reply() : sink;
  }

  // What goes wrong

  /** What came is no proper answer. */
  public void refuse(ErrorType kind, String what) {
    fail(failure(kind, what), Http2Error.PROTOCOL_ERROR);
  }

  private Failure failure(ErrorType kind, String what) {
    return Failure.of(kind, origin + " " + what);
  }

  /** It comes to nothing. Without effect if it is over. */
  public void fail(Failure why) {
    fail(why, Http2Error.CANCEL);
  }

  private void fail(Failure why, Http2Error code) {
    fail(why, progress(), code);
  }

  /** The origin itself says how far it came. */
  public void fail(Failure why, OriginProgress progress) {
    fail(why, progress, Http2Error.CANCEL);
  }

  private void fail(Failure why, OriginProgress progress, Http2Error code) {
    if (owner == null) {
      return;
    }
    boolean isCounted = framing.isCounted(progress);
    Owner told = letGo();
    stopUpload(why);
    framing.abandon(code);
    told.failed(why, progress, isCounted);
  }

  /** How far the origin may have come. */
  public OriginProgress progress() {
    boolean isSilent = state == State.HEAD && interims == 0 && !framing.isHeadBegun();
    return isSilent ? OriginProgress.UNKNOWN : OriginProgress.BEGUN;
  }

  /** Whether content of the last request was taken from its source. */
  public boolean hasTakenContent() {
    return upload != null && upload.isStarted;
  }

  /** Looks at the deadlines. */
  public void tick(long nowNanos) {
    Awaited awaited = awaited();
    if (deadlines.isLate(awaited, nowNanos)) {
      switch (awaited) {
        case CONTINUE -> startUpload();
        case TUNNEL -> closeTunnel(null);
        default -> fail(deadlines.failure(awaited, origin));
      }
    }
  }

  private Awaited awaited() {
    boolean clientSends = isUploading() && framing.takesMore();
    return switch (state) {
      case HEAD -> {
        if (isPaused) {
          yield Awaited.CLIENT;
        } else if (framing.isHeadBegun()) {
          yield Awaited.HEAD;
        } else if (awaitsContinue) {
          yield Awaited.CONTINUE;
        } else if (clientSends) {
          yield Awaited.CLIENT;
        }
        yield isUploading() || !framing.hasSentAll() ? Awaited.UPLOAD : Awaited.HEAD;
      }
      case CONTENT -> isPaused || clientSends ? Awaited.CLIENT : Awaited.CONTENT;
      case TUNNEL -> Awaited.TUNNEL;
      case IDLE, OVER -> Awaited.NOTHING;
    };
  }

  // The client's side: back-pressure, and gone

  @Override
  public void pause() {
    isPaused = true;
    if (owner != null) {
      framing.pauseResponse();
    }
  }

  @Override
  public void resume() {
    isPaused = false;
    if (owner != null) {
      framing.resumeResponse();
    }
  }

  public boolean isPaused() {
    return isPaused;
  }

  /** Nobody wants the response any more. The owner is told nothing. */
  @Override
  public void cancel(Failure why) {
    if (owner != null) {
      letGo();
      stopUpload(why);
      framing.abandon(Http2Error.CANCEL);
    }
  }

  /** The content of the request on its way to the origin. */
  private final class Upload implements ContentSink {

    private final RequestContent content;
    private final boolean dropsTrailers;
    private long left;
    private boolean isStarted;
    private boolean isOver;
    private boolean isPaused;

    Upload(RequestContent content, boolean dropsTrailers) {
      this.content = content;
      this.dropsTrailers = dropsTrailers;
      this.left = content.length();
    }

    @Override
    public void write(ByteBuf chunk) {
      if (isOver) {
        chunk.release();
      } else {
        left -= chunk.readableBytes();
        framing.sendContent(chunk);
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      if (isOver) {
        return;
      }
      isOver = true;
      if (content.length() >= 0 && left != 0) {
        fail(
            Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "content of another length than announced"));
        return;
      }
      if (trailers != null) {
        removed.removeFrom(trailers);
      }
      framing.endContent(dropsTrailers ? null : trailers);
      if (owner != null) {
        owner.uploaded();
      }
    }

    /** The origin must not believe that the client has sent all it had announced. */
    @Override
    public void abort(Failure why) {
      if (!isOver) {
        isOver = true;
        fail(why);
      }
    }
  }
}
