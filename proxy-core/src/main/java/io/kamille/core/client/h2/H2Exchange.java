package io.kamille.core.client.h2;

import io.kamille.core.client.ClientExchange;
import io.kamille.core.client.ReplyHeads;
import io.kamille.core.client.RequestAdmission;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.gate.Overload;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.h2.RequestSink;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import org.jspecify.annotations.Nullable;

/** The request of one stream and its answer (RFC 9113 §8.1). Confined to its loop. */
final class H2Exchange extends ClientExchange implements H2Content.Stream {

  /*
   * The exchange of a stream that the client resets ends when its source is told. If there is none
   * yet, somebody may still be about to answer: until then the stream keeps its place.
   */

  private final H2ClientConnection client;
  private final RequestAdmission admission;
  private final Stream stream;
  private final @Nullable Failure refusal;
  private final @Nullable H2Content content;
  private @Nullable WindowStall stall;
  private long sentBytes;
  private boolean wasAnswered;
  private boolean isSwitched;
  private boolean isHandedOn;
  private boolean lingers;

  /**
   * The exchange of a stream whose request has come.
   *
   * @param verdict whether it goes further
   * @param contentLength -1 if the request does not say
   * @param isLast whether no content follows
   */
  H2Exchange(
      H2ClientConnection client,
      H2Stream.Carrier carrier,
      int id,
      RequestHead request,
      RequestSink.Verdict verdict,
      long contentLength,
      boolean isLast) {
    super(client.shard().server(), request);
    this.client = client;
    this.refusal = verdict.refusal();
    this.admission = new RequestAdmission(server, client.tally(), client.client());
    this.stream = new Stream(carrier, id);
    boolean isTunnel = verdict.isTunnel();
    H2Content following = isLast && !isTunnel ? null : new H2Content(this, contentLength, isTunnel);
    this.content = following;
    if (following != null && isLast) {
      following.receivedEnd();
    }
    reset();
    complete(following); // it may come, and have to be dropped, before the request is handed on
  }

  /** The exchange of this stream. */
  static H2Exchange of(H2Stream stream) {
    return ((Stream) stream).exchange();
  }

  H2Stream stream() {
    return stream;
  }

  // The request

  /** Hands the request on, unless it is refused. */
  void begin() {
    Failure trouble = trouble();
    complete(content);
    isHandedOn = true;
    RequestContent given = content == null ? RequestContent.NONE : content;
    Exchange met =
        new Exchange(
            server.loop(),
            request().client(client.client()),
            client.local(),
            request(),
            given,
            this);
    met.notes().tlsVersion(client.tlsVersion());
    handOn(met, client.shard().handler(), trouble);
    if (!isEnded()) {
      admission.begun(request(), request().fields().heapBytes());
    }
  }

  /** Why the request goes no further; null if it may. */
  private @Nullable Failure trouble() {
    if (refusal != null) {
      return refusal;
    }
    if (content != null && content.length() > server.settings().maxContentBytes()) {
      return Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit");
    }
    Failure unmet = expectation(content != null);
    if (unmet != null) {
      return unmet;
    }
    if (client.isMisdirected(request())) {
      return Failure.request(
          StatusCode.MISDIRECTED_REQUEST, "another certificate is for this authority");
    }
    Failure lack = admission.lackOfRoom(request().fields().heapBytes());
    return lack == null ? admission.refusal(request()) : lack;
  }

  // For the content

  @Override
  public long now() {
    return server.nowNanos();
  }

  @Override
  public void credit(int bytes) {
    stream.credit(bytes);
  }

  @Override
  public void contentIsMalformed(String reason) {
    note(Failure.request(StatusCode.BAD_REQUEST, reason));
    stream.reset(Http2Error.PROTOCOL_ERROR);
  }

  @Override
  public void contentIsTooLarge() {
    failAndTell(Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit"));
  }

  // Deadlines

  /** Ends an exchange whose client sends its content, or takes the answer, too slowly. */
  void checkDeadlines() {
    long now = server.nowNanos();
    if (content != null && content.isTooSlow(now, client.h2().partialContentBytes(stream))) {
      failAndTell(
          Failure.request(StatusCode.REQUEST_TIMEOUT, "the request content came too slowly"));
      client.sendReady();
    }
    endIfAnswered();
    if (isSwitched) {
      endIfDraining();
    } else if (!stream.isBlocked()) {
      stall = null;
    } else if (stall == null) {
      stall = new WindowStall(now, sentBytes);
    } else if (stall.isTooLong(now, sentBytes, server.settings())) {
      server.connections().resetTooSlow();
      stream.reset(Http2Error.CANCEL);
    }
  }

  /** A tunnel may be silent, or paused, for as long as the origin's side of it allows. */
  private void endIfDraining() {
    if (server.connections().mustEndTunnels()) {
      stream.reset(Http2Error.CANCEL);
    }
  }

  /**
   * The answer is complete, and nobody wants the rest of the request. A client that is about to end
   * it has a moment: then it is spared the reset.
   */
  private void endIfAnswered() {
    boolean isAnswered = stream.isAllSent() && (content == null || !content.isTaken());
    if (isAnswered && wasAnswered) {
      client.h2().answered(stream);
    }
    wasAnswered = isAnswered;
  }

  // The answer

  @Override
  protected boolean isClientSlow() {
    return stream.isBehind();
  }

  @Override
  protected void sendInterim(ResponseHead head) {
    HpackWriter out = client.h2().section();
    client.shard().heads().interim(out, head);
    stream.sendInterim(out);
  }

  @Override
  protected @Nullable Failure misfit(@Nullable ResponseHead head) {
    boolean isTunnel = content != null && content.isTunnel();
    if (head == null) {
      return isTunnel ? ExtendedConnect.NO_SWITCH : null;
    }
    return ExtendedConnect.misfit(request(), head, isTunnel);
  }

  @Override
  protected boolean sendHead(
      ResponseHead head, long contentLength, boolean isLast, @Nullable ByteBuf whole) {
    ResponseHead sent = head;
    if (head.status() == StatusCode.SWITCHING_PROTOCOLS) {
      isSwitched = true;
      sent = ExtendedConnect.accepted(head);
      begin(sent.status(), UNKNOWN_LENGTH);
    }
    if (isLast && content != null) {
      GrpcStatus.note(request(), sent.fields(), notes());
    }
    HpackWriter out = client.h2().section();
    boolean saysLength = sent.status() != StatusCode.NO_CONTENT;
    client.shard().heads().answer(out, sent, saysLength ? contentLength : ReplyHeads.UNSAID);
    stream.sendHead(out, isLast);
    return false;
  }

  @Override
  protected void send(ByteBuf chunk) {
    stream.send(chunk);
    client.sendReady();
  }

  @Override
  protected void sendEnd(@Nullable Fields trailers) {
    answered();
    if (trailers != null) {
      GrpcStatus.note(request(), trailers, notes());
    }
    stream.sendEnd(trailers);
    client.sendReady();
  }

  @Override
  protected void sendStored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    int linesLength = (int) (linesAndContent.readableBytes() - contentLength);
    HpackWriter out = stored(status, ownLines, ownLength, linesAndContent, linesLength);
    answered();
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
  protected void sendStoredHead(int status, byte[] ownLines, int ownLength, ByteBuf lines) {
    int length = lines.readableBytes();
    stream.sendHead(stored(status, ownLines, ownLength, lines, length), false);
    lines.release();
  }

  /** The head of a stored response; takes its lines off the beginning of {@code rest}. */
  private HpackWriter stored(
      int status, byte[] ownLines, int ownLength, ByteBuf rest, int linesLength) {
    byte[] lines = client.shard().lines(linesLength);
    rest.readBytes(lines, 0, linesLength);
    HpackWriter out = client.h2().section();
    client.shard().heads().stored(out, status, ownLines, ownLength);
    out.lines(lines, 0, linesLength);
    return out;
  }

  @Override
  protected void sendShed() {
    begin(Overload.SHED.status(), 0);
    HpackWriter out = client.h2().section();
    client.shard().heads().shed(out, server.shedder().retryAfterSeconds());
    stream.sendHead(out, true);
  }

  /** END_STREAM is never set (RFC 9113 §8.1). */
  @Override
  protected void breakOffAnswer() {
    answered();
    stream.reset(isSwitched ? Http2Error.CANCEL : Http2Error.INTERNAL_ERROR);
  }

  @Override
  protected void cameTooLate() {
    if (lingers) {
      lingers = false;
      client.h2().lingersNoMore();
    }
  }

  @Override
  protected long sentBytes() {
    return sentBytes;
  }

  /** What happens on the wire. */
  private final class Stream extends H2Stream {

    Stream(Carrier carrier, int id) {
      super(carrier, id);
    }

    H2Exchange exchange() {
      return H2Exchange.this;
    }

    @Override
    protected void received(ByteBuf chunk) {
      contentComes();
      if (content == null) {
        chunk.release();
      } else {
        content.received(chunk);
      }
    }

    /** After CONNECT there is nothing but content (RFC 9113 §8.5). */
    @Override
    protected void receivedTrailers(Fields trailers) {
      if (content != null && content.isTunnel()) {
        contentIsMalformed("trailers in a tunnel");
      } else if (content != null) {
        content.receivedTrailers(trailers);
      }
    }

    @Override
    protected void receivedEnd() {
      if (content != null) {
        content.receivedEnd();
      }
    }

    @Override
    protected void pauseSource() {
      H2Exchange.this.pauseSource();
    }

    @Override
    protected void resumeSource() {
      H2Exchange.this.resumeSource();
    }

    @Override
    protected void sent(int bytes) {
      sentBytes += bytes;
    }

    @Override
    protected void sentEnd() {
      finish();
      admission.over();
      if (content != null && !content.isTaken()) {
        content.dismiss();
      }
      if (isReusable()) {
        client.shard().giveBack(request());
      }
    }

    @Override
    protected void broken(Http2Error code, boolean byPeer) {
      if (isHandedOn && !isBegun() && !hasSource()) {
        lingers = true;
        client.h2().lingers();
      }
      String reason = byPeer ? "the client reset the stream: " : "the stream was reset: ";
      clientGone(Failure.of(ErrorType.CLIENT_GONE, reason + code + fault()));
      admission.over();
    }
  }
}
