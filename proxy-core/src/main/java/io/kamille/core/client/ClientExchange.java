package io.kamille.core.client;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.gate.Overload;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * One request of a client and the answer to it, whatever the version of HTTP: handed to the first
 * station, answered once, told to the observer once. How it looks on the wire is for those who
 * extend it. Confined to its loop.
 */
public abstract class ClientExchange implements Reply, ClientContent.Owner {

  /*
   *   WAITING ──── head, storedHead ────► BEGUN ──── end, abort ────► ENDED
   *      └──────── stored, the client is gone ──────────────────────────▲
   *
   * A fault that no station knows of ends both ways: the source of the answer is cancelled, and
   * who takes the content of the request is told. Once the exchange has ended, whatever a station
   * still says is dropped.
   */
  private enum State {
    WAITING,
    BEGUN,
    ENDED
  }

  private static final System.Logger LOG = System.getLogger("kamille.server");

  private static final Failure OVER = Failure.of(ErrorType.CLIENT_GONE, "the exchange is over");
  private static final Failure TOO_MUCH =
      Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, "more content than its length says");
  private static final Failure TOO_LITTLE =
      Failure.of(ErrorType.HTTP_RESPONSE_INCOMPLETE, "less content than its length says");

  protected final ServerShard server;
  private final RequestHead request;
  private @Nullable Exchange observed;
  private @Nullable ClientContent content;
  private @Nullable ContentSource source;
  private State state = State.WAITING;
  private long startNanos;
  private int status;
  private long givenBytes;
  private long expectedBytes;
  private boolean hasNoContent;
  private boolean isHandling;
  private boolean isReusable;
  private boolean awaitsContinue;

  /** Exchanges for requests that have this head, one after the other. */
  protected ClientExchange(ServerShard server, RequestHead request) {
    this.server = server;
    this.request = request;
  }

  // The request

  /** A request begins to come; there is nothing to tell of yet. */
  protected final void reset() {
    observed = null;
    content = null;
    source = null;
    state = State.WAITING;
    startNanos = server.nowNanos();
    status = 0;
    givenBytes = 0;
    expectedBytes = UNKNOWN_LENGTH;
    hasNoContent = false;
    isReusable = false;
    awaitsContinue = false;
  }

  public final RequestHead request() {
    return request;
  }

  /** The head is complete, and this content follows it; the time of the exchange begins. */
  protected final void complete(@Nullable ClientContent content) {
    this.content = content;
    startNanos = server.nowNanos();
  }

  /** The client has said all it has to say. */
  public final void inputEnded() {
    if (observed != null) {
      observed.notes().inputEnded();
    }
  }

  /** The stations, or only the observer, will hear of this exchange. */
  protected final void met(Exchange exchange) {
    observed = exchange;
  }

  /** Hands the exchange to the first station, or refuses it if there is a reason. */
  protected final void handOn(Exchange exchange, ExchangeHandler first, @Nullable Failure refusal) {
    met(exchange);
    isHandling = true;
    if (refusal == null) {
      handle(exchange, first);
    } else {
      fail(refusal);
    }
    isHandling = false;
  }

  private void handle(Exchange exchange, ExchangeHandler first) {
    try {
      first.handle(exchange);
    } catch (RuntimeException | OutOfMemoryError bug) {
      LOG.log(Level.ERROR, "an exchange failed by a fault of ours: " + request.target(), bug);
      failAndTell(Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "a fault in the proxy"));
    }
  }

  /**
   * Why what the client expects of us cannot be; null if it can (RFC 9110 §10.1.1).
   *
   * @param isFollowed whether content follows the head, which the client may wait to be asked for
   */
  protected final @Nullable Failure expectation(boolean isFollowed) {
    Fields fields = request.fields();
    if (request.minorVersion() == 0 || !fields.has(FieldName.EXPECT)) {
      return null;
    }
    awaitsContinue = isFollowed;
    return "100-continue".equalsIgnoreCase(fields.joined(FieldName.EXPECT))
        ? null
        : Failure.request(StatusCode.EXPECTATION_FAILED, "an expectation other than 100-continue");
  }

  /** Content has come: nobody has to ask for it. */
  protected final void contentComes() {
    awaitsContinue = false;
  }

  /** Whether the client waits to be asked for its content. */
  protected final boolean awaitsContinue() {
    return awaitsContinue;
  }

  @Override
  public final void sendContinue() {
    if (awaitsContinue) {
      interim(ResponseHead.of(StatusCode.CONTINUE));
    }
  }

  @Override
  public final ClientSettings settings() {
    return server.settings();
  }

  /** Whether the first station is looking at the request. */
  protected final boolean isHandling() {
    return isHandling;
  }

  /** Whether it was answered from the store before the first station returned: nobody keeps it. */
  public final boolean isReusable() {
    return isReusable;
  }

  // The answer

  @Override
  public final void open(ContentSource source) {
    if (state == State.ENDED) {
      source.cancel(OVER);
      cameTooLate();
      return;
    }
    this.source = source;
    if (isClientSlow()) {
      source.pause();
    }
  }

  /** A 100 is for a client that waits for it, others for one that knows such. */
  @Override
  public final void interim(ResponseHead head) {
    boolean isContinue = head.status() == StatusCode.CONTINUE;
    boolean isWanted = isContinue ? awaitsContinue : request.minorVersion() == 1;
    if (state == State.WAITING && isWanted) {
      awaitsContinue = awaitsContinue && !isContinue;
      sendInterim(head);
    }
  }

  @Override
  public final void head(ResponseHead head, long contentLength) {
    head(head, contentLength, null);
  }

  @Override
  public final boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    if (state != State.WAITING) {
      cameTooLate();
      return false;
    }
    Failure misfit = misfit(head);
    if (misfit != null) {
      failAndTell(misfit);
      return false;
    }
    boolean isSwitch = head.status() == StatusCode.SWITCHING_PROTOCOLS;
    hasNoContent =
        !isSwitch
            && (contentLength == 0
                || request.method() == Method.HEAD
                || StatusCode.hasNoContent(head.status()));
    begin(head.status(), hasNoContent ? 0 : contentLength);
    if (isSwitch) {
      expectedBytes = UNKNOWN_LENGTH;
    }
    boolean isWhole = sendHead(head, contentLength, hasNoContent, whole);
    if (isWhole) {
      givenBytes = expectedBytes;
    }
    return isWhole;
  }

  /** An answer with this status code and so much content has begun. */
  protected final void begin(int status, long contentBytes) {
    state = State.BEGUN;
    this.status = status;
    expectedBytes = contentBytes;
  }

  @Override
  public final void write(ByteBuf chunk) {
    if (state != State.BEGUN || hasNoContent) {
      chunk.release();
    } else if (isTooMuch(chunk.readableBytes())) {
      chunk.release();
      failAndTell(TOO_MUCH);
    } else {
      send(chunk);
    }
  }

  @Override
  public final void write(FileRegion region) {
    if (state != State.BEGUN || hasNoContent) {
      region.release();
    } else if (!takesRegions()) {
      Reply.super.write(region);
    } else if (isTooMuch(region.count())) {
      region.release();
      failAndTell(TOO_MUCH);
    } else {
      send(region);
    }
  }

  private boolean isTooMuch(long bytes) {
    givenBytes += bytes;
    return expectedBytes >= 0 && givenBytes > expectedBytes;
  }

  @Override
  public final void end(@Nullable Fields trailers) {
    if (state != State.BEGUN) {
      return;
    }
    if (expectedBytes >= 0 && givenBytes != expectedBytes) {
      source = null;
      failAndTell(TOO_LITTLE);
    } else {
      sendEnd(trailers);
    }
  }

  @Override
  public final void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    if (admitStored(linesAndContent)) {
      begin(status, contentLength);
      givenBytes = contentLength;
      isReusable = isHandling && content == null;
      sendStored(status, ownLines, ownLength, linesAndContent, contentLength);
    }
  }

  @Override
  public final void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    if (admitStored(lines)) {
      begin(status, contentLength);
      sendStoredHead(status, ownLines, ownLength, lines);
    }
  }

  /** Releases a stored response for which it is too late, or that will not do. */
  private boolean admitStored(ByteBuf octets) {
    Failure misfit = null;
    if (state != State.WAITING) {
      cameTooLate();
    } else {
      misfit = misfit(null);
      if (misfit == null) {
        return true;
      }
    }
    octets.release();
    if (misfit != null) {
      failAndTell(misfit);
    }
    return false;
  }

  @Override
  public final boolean isBegun() {
    return state != State.WAITING;
  }

  /** Whether its client may wait for long before it can find out that we go on. */
  public final boolean isAwaited() {
    return state == State.WAITING || (state == State.BEGUN && expectedBytes < 0);
  }

  @Override
  public final boolean isEnded() {
    return state == State.ENDED;
  }

  /** The client takes less than it is offered. */
  public final void pauseSource() {
    if (source != null) {
      source.pause();
    }
  }

  /** The client takes its answer again. */
  public final void resumeSource() {
    if (source != null) {
      source.resume();
    }
  }

  // Trouble

  @Override
  public final void fail(Failure why) {
    if (state == State.ENDED) {
      cameTooLate();
      return;
    }
    if (state == State.BEGUN) {
      abort(why);
      return;
    }
    note(why);
    dismissContent();
    if (why.equals(Overload.SHED)) {
      sendShed();
      return;
    }
    FailureReply answer = FailureReply.of(why, notes(), request().isSecure());
    head(answer.head(), answer.content().length);
    write(Unpooled.wrappedBuffer(answer.content()));
    end(null);
  }

  /** Fails for a reason that the stations do not know of. */
  public final void failAndTell(Failure why) {
    ContentSource asked = source;
    source = null;
    ContentSink taker = content == null ? null : content.dismiss();
    fail(why);
    if (asked != null) {
      asked.cancel(why);
    }
    if (taker != null) {
      taker.abort(why);
    }
  }

  @Override
  public final void abort(Failure why) {
    if (state == State.ENDED) {
      cameTooLate();
    } else if (state == State.WAITING) {
      fail(why);
    } else {
      note(why);
      breakOffAnswer();
    }
  }

  /** The client is gone, or the way to it, whatever we were about to say. */
  protected final void clientGone(Failure why) {
    ContentSource asked = source;
    note(why);
    answered();
    if (asked != null) {
      asked.cancel(why);
    }
    if (content != null) {
      content.breakOff(why);
    }
    tell();
  }

  /** Whether somebody would be told of a failure, or has not answered yet. */
  protected final boolean hasSource() {
    return source != null;
  }

  /** The request failed: the rest of its content is for nobody, and who failed it knows. */
  protected void dismissContent() {
    if (content != null) {
      content.dismiss();
    }
  }

  // The end

  /** All of the answer was given; the source is told nothing from now on. */
  protected final void answered() {
    state = State.ENDED;
    source = null;
  }

  /** The answer is out: the observer is told, if there is something to tell of. */
  protected final void finish() {
    answered();
    tell();
  }

  private void tell() {
    Exchange ended = observed;
    if (ended != null) {
      observed = null;
      server.observer().ended(ended, status, sentBytes(), startNanos, server.time().exactNanos());
    }
  }

  /** Notes why it failed. */
  protected final void note(Failure failure) {
    if (observed != null) {
      observed.notes().failure(failure);
    }
  }

  /** What was noted so far, if there is an exchange to tell of. */
  @Override
  public final long contentLimit() {
    long limit = settings().maxContentBytes();
    return observed == null ? limit : Math.min(limit, observed.notes().contentLimit());
  }

  protected final @Nullable ExchangeNotes notes() {
    return observed == null ? null : observed.notes();
  }

  /** Octets of content that the stations gave. */
  protected final long givenBytes() {
    return givenBytes;
  }

  // How it looks on the wire

  /** Whether the client takes less than it is offered at this moment. */
  protected abstract boolean isClientSlow();

  /** Why the client must not get this final head, or a stored response for null. */
  protected abstract @Nullable Failure misfit(@Nullable ResponseHead head);

  /** Sends an interim head. Borrows it. */
  protected abstract void sendInterim(ResponseHead head);

  /**
   * Sends a final head. Borrows it.
   *
   * @param isLast whether no content follows
   * @param whole begins with all content, or null; borrowed
   * @return whether the content went with it
   */
  protected abstract boolean sendHead(
      ResponseHead head, long contentLength, boolean isLast, @Nullable ByteBuf whole);

  /** Sends one chunk. Takes ownership. */
  protected abstract void send(ByteBuf chunk);

  /** Sends one chunk, where regions are taken. Takes ownership. */
  protected void send(FileRegion region) {
    Reply.super.write(region);
  }

  /** The content is complete, as long as announced. */
  protected abstract void sendEnd(@Nullable Fields trailers);

  /** Sends a whole stored response, as {@link #stored} has it. */
  protected abstract void sendStored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength);

  /** Sends a stored head, as {@link #storedHead} has it. */
  protected abstract void sendStoredHead(int status, byte[] ownLines, int ownLength, ByteBuf lines);

  /** Answers a request that is shed; this must cost little. */
  protected abstract void sendShed();

  /** Ends an answer that has begun: what was sent must not pass for complete. */
  protected abstract void breakOffAnswer();

  /** Octets of content that the client was sent. */
  protected abstract long sentBytes();

  /** A station has answered an exchange that was over. */
  protected void cameTooLate() {}
}
