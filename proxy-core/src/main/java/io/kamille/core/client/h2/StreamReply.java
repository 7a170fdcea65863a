package io.kamille.core.client.h2;

import io.kamille.core.client.FailureReply;
import io.kamille.core.client.ObservedExchange;
import io.kamille.core.client.ReplySource;
import io.kamille.core.client.ServerShard;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Reply;
import io.kamille.core.gate.Overload;
import io.kamille.core.h2.ErrorCode;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** The reply to the request of one stream. Confined to its loop. */
final class StreamReply implements Reply {

  /*
   * The exchange of a stream that the client resets ends when its source is told. If there is none
   * yet, somebody may still be about to answer: until then the stream keeps its place.
   */
  private static final Failure TOO_MUCH =
      Failure.of(Kind.HTTP_PROTOCOL_ERROR, "more content than its length says");

  private enum State {
    WAITING,
    BEGUN,
    ENDED
  }

  private final H2Stream stream;
  private final StreamClient client;
  private final ServerShard shared;
  private final RequestHead request;
  private final ObservedExchange observed;
  private final @Nullable StreamContent content;
  private final ReplySource source = new ReplySource();
  private State state = State.WAITING;
  private int status;
  private long givenBytes;
  private long sentBytes;
  private long expectedBytes;
  private boolean awaitsContinue;
  private boolean withoutContent;
  private boolean isSwitched;
  private boolean isHandling;
  private boolean isReusable;
  private boolean lingers;

  StreamReply(
      H2Stream stream,
      StreamClient client,
      RequestHead request,
      ObservedExchange observed,
      @Nullable StreamContent content) {
    this.stream = stream;
    this.client = client;
    this.shared = client.shard().server();
    this.request = request;
    this.observed = observed;
    this.content = content;
  }

  // From the stream

  /** The client sends its content only once it is asked to (RFC 9110 §10.1.1). */
  void awaitsContinue() {
    awaitsContinue = true;
  }

  /** Content has come: nobody has to ask for it. */
  void contentComes() {
    awaitsContinue = false;
  }

  /** Asks the client for its content, if it waits to be asked. */
  void sendContinue() {
    if (awaitsContinue && state == State.WAITING) {
      interim(ResponseHead.of(StatusCode.CONTINUE));
    }
  }

  /** Whether the first station is looking at the request. */
  void handling(boolean isHandling) {
    this.isHandling = isHandling;
  }

  // From the stations

  @Override
  public void open(ContentSource source) {
    if (isEnded()) {
      source.cancel(Failure.of(Kind.CLIENT_GONE, "the exchange is over"));
      lingersNoMore();
      return;
    }
    this.source.open(source);
    if (stream.isBehind()) {
      source.pause();
    }
  }

  @Override
  public void interim(ResponseHead head) {
    boolean wanted = head.status() != StatusCode.CONTINUE || awaitsContinue;
    if (state != State.WAITING || !wanted) {
      return;
    }
    awaitsContinue = awaitsContinue && head.status() != StatusCode.CONTINUE;
    stream.sendInterim(client.heads().interim(head));
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    if (isBegun()) {
      lingersNoMore();
      return;
    }
    Failure misfit = ExtendedConnect.misfit(request, head, isTunnel());
    if (misfit != null) {
      failAndTell(misfit);
      return;
    }
    isSwitched = head.status() == StatusCode.SWITCHING_PROTOCOLS;
    send(isSwitched ? ExtendedConnect.accepted(head) : head, contentLength);
  }

  private boolean isTunnel() {
    return content != null && content.isTunnel();
  }

  private void send(ResponseHead head, long contentLength) {
    begun(head.status());
    withoutContent =
        contentLength == 0 || request.method() == Method.HEAD || StatusCode.hasNoContent(status);
    expectedBytes = withoutContent ? 0 : contentLength;
    if (withoutContent && content != null) {
      GrpcStatus.note(request, head.fields(), observed.notes());
    }
    stream.sendHead(client.heads().head(head, contentLength), withoutContent);
  }

  private void begun(int status) {
    state = State.BEGUN;
    this.status = status;
  }

  @Override
  public void write(ByteBuf chunk) {
    if (state != State.BEGUN || withoutContent) {
      chunk.release();
      return;
    }
    givenBytes += chunk.readableBytes();
    if (expectedBytes >= 0 && givenBytes > expectedBytes) {
      chunk.release();
      failAndTell(TOO_MUCH);
      return;
    }
    stream.send(chunk);
    client.sendReady();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (state != State.BEGUN) {
      return;
    }
    if (expectedBytes >= 0 && givenBytes != expectedBytes) {
      source.release();
      failAndTell(Failure.of(Kind.HTTP_RESPONSE_INCOMPLETE, "less content than its length says"));
      return;
    }
    state = State.ENDED;
    source.release();
    if (trailers != null) {
      GrpcStatus.note(request, trailers, observed.notes());
    }
    stream.sendEnd(trailers);
    client.sendReady();
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    if (mayNotBeStored()) {
      linesAndContent.release();
      return;
    }
    isReusable = isHandling && content == null;
    int linesLength = (int) (linesAndContent.readableBytes() - contentLength);
    HpackWriter out = beginStored(status, ownLines, ownLength, linesAndContent, linesLength);
    givenBytes = linesAndContent.readableBytes();
    state = State.ENDED;
    if (linesAndContent.isReadable()) {
      stream.sendHead(out, false);
      stream.send(linesAndContent);
      stream.sendEnd(null);
      client.sendReady();
    } else {
      linesAndContent.release();
      stream.sendHead(out, true);
    }
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    if (mayNotBeStored()) {
      lines.release();
      return;
    }
    expectedBytes = contentLength;
    stream.sendHead(beginStored(status, ownLines, ownLength, lines, lines.readableBytes()), false);
    lines.release();
  }

  /** Whether it is too late for an answer, or a stored one will not do. */
  private boolean mayNotBeStored() {
    if (isBegun()) {
      lingersNoMore();
      return true;
    }
    if (isTunnel()) {
      failAndTell(ExtendedConnect.NO_SWITCH);
    }
    return isTunnel();
  }

  private HpackWriter beginStored(
      int status, byte[] ownLines, int ownLength, ByteBuf rest, int linesLength) {
    begun(status);
    return client.heads().stored(status, ownLines, ownLength, rest, linesLength);
  }

  @Override
  public void fail(Failure failure) {
    if (isEnded()) {
      lingersNoMore();
      return;
    }
    if (state == State.BEGUN) {
      abort(failure);
      return;
    }
    observed.note(failure);
    if (content != null) {
      content.dismiss();
    }
    if (failure.equals(Overload.SHED)) {
      head(client.heads().shed(), 0);
      end(null);
      return;
    }
    FailureReply answer =
        FailureReply.of(failure, shared.name(), observed.notes(), shared.settings());
    head(answer.head(), answer.content().length);
    write(Unpooled.wrappedBuffer(answer.content()));
    end(null);
  }

  /** Fails for a reason that the stations do not know of. */
  void failAndTell(Failure why) {
    ContentSource asked = source.release();
    ContentSink taker = content == null ? null : content.dismiss();
    fail(why);
    if (asked != null) {
      asked.cancel(why);
    }
    if (taker != null) {
      taker.abort(why);
    }
  }

  /** What was sent must not pass for complete: END_STREAM is never set (RFC 9113 §8.1). */
  @Override
  public void abort(Failure why) {
    if (isEnded()) {
      lingersNoMore();
      return;
    }
    if (state == State.WAITING) {
      fail(why);
      return;
    }
    observed.note(why);
    source.release();
    state = State.ENDED;
    stream.reset(isSwitched ? ErrorCode.CANCEL : ErrorCode.INTERNAL_ERROR);
  }

  @Override
  public boolean isBegun() {
    return state != State.WAITING;
  }

  /** Whether the stream is a tunnel by now. */
  boolean isSwitched() {
    return isSwitched;
  }

  @Override
  public boolean isEnded() {
    return state == State.ENDED;
  }

  // What becomes of it

  /** Where the content comes from. */
  ReplySource source() {
    return source;
  }

  void sent(int bytes) {
    sentBytes += bytes;
  }

  long sentBytes() {
    return sentBytes;
  }

  /** The last octet was handed to the socket. */
  void sentEnd() {
    state = State.ENDED;
    source.release();
    observed.end(status, sentBytes);
  }

  /** Whether the exchange was over when its handler returned, so that nobody holds on to it. */
  boolean isReusable() {
    return isReusable;
  }

  /**
   * The stream is over before its time.
   *
   * @param isHandedOn whether the stations know of the request
   */
  void broken(Failure why, boolean isHandedOn) {
    ContentSource asked = source.release();
    if (isHandedOn && asked == null && state == State.WAITING) {
      lingers = true;
      client.h2().lingers();
    }
    if (!stream.isAllSent()) {
      observed.note(why);
    }
    state = State.ENDED;
    if (asked != null) {
      asked.cancel(why);
    }
    if (content != null) {
      content.breakOff(why);
    }
    observed.end(status, sentBytes);
  }

  private void lingersNoMore() {
    if (lingers) {
      lingers = false;
      client.h2().lingersNoMore();
    }
  }
}
