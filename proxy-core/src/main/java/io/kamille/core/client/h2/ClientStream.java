package io.kamille.core.client.h2;

import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.RequestAdmission;
import io.kamille.core.client.ServerShard;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.RequestSink;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import org.jspecify.annotations.Nullable;

/** One request of an HTTP/2 connection. Confined to its loop. */
final class ClientStream extends H2Stream implements H2Content.Stream {

  private final H2Exchange.Connection client;
  private final ServerShard shared;
  private final RequestHead request;
  private final RequestAdmission admission;
  private final H2Exchange exchange;
  private final @Nullable Failure refusal;
  private final @Nullable H2Content content;
  private @Nullable WindowStall stall;
  private boolean wasAnswered;

  /**
   * A stream whose request has come.
   *
   * @param verdict whether it goes further
   * @param contentLength -1 if the request does not say
   * @param isLast whether no content follows
   */
  ClientStream(
      H2Exchange.Connection client,
      Carrier carrier,
      int id,
      RequestHead request,
      RequestSink.Verdict verdict,
      long contentLength,
      boolean isLast) {
    super(carrier, id);
    this.client = client;
    this.shared = client.shard().server();
    this.request = request;
    this.refusal = verdict.refusal();
    this.admission = new RequestAdmission(shared, client.tally());
    boolean isTunnel = verdict.isTunnel();
    H2Content following = isLast && !isTunnel ? null : new H2Content(this, contentLength, isTunnel);
    if (following != null && isLast) {
      following.receivedEnd();
    }
    this.content = following;
    this.exchange = new H2Exchange(this, client, request, following);
  }

  // The request

  /** Hands the request on. */
  void begin() {
    exchange.begin(trouble());
    if (!exchange.isEnded()) {
      admission.begun(request.fields().heapBytes());
    }
  }

  /** Why the request goes no further; null if it may. */
  private @Nullable Failure trouble() {
    if (refusal != null) {
      return refusal;
    }
    if (content != null && content.length() > shared.settings().maxContentBytes()) {
      return Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit");
    }
    Fields fields = request.fields();
    if (fields.has(FieldName.EXPECT)) {
      if (!"100-continue".equalsIgnoreCase(fields.joined(FieldName.EXPECT))) {
        return Failure.request(
            StatusCode.EXPECTATION_FAILED, "an expectation other than 100-continue");
      }
      if (content != null) {
        exchange.awaitsContinue();
      }
    }
    if (client.isMisdirected(request)) {
      return Failure.request(
          StatusCode.MISDIRECTED_REQUEST, "another certificate is for this authority");
    }
    Failure lack = admission.lackOfRoom(request.fields().heapBytes());
    return lack == null ? admission.refusal() : lack;
  }

  @Override
  protected void received(ByteBuf chunk) {
    exchange.contentComes();
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

  // For the content

  @Override
  public ClientSettings settings() {
    return shared.settings();
  }

  @Override
  public long now() {
    return shared.nowNanos();
  }

  @Override
  public void sendContinue() {
    exchange.sendContinue();
  }

  @Override
  public void contentIsMalformed(String reason) {
    exchange.contentIsMalformed(Failure.request(StatusCode.BAD_REQUEST, reason));
    reset(Http2Error.PROTOCOL_ERROR);
  }

  @Override
  public void contentIsTooLarge() {
    exchange.failAndTell(Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit"));
  }

  // Deadlines

  /** Ends an exchange whose client sends its content, or takes the answer, too slowly. */
  void lookAtDeadline() {
    long now = shared.nowNanos();
    if (content != null && content.isTooSlow(now, client.h2().partialContentBytes(this))) {
      exchange.failAndTell(H2Content.tooSlow());
      client.sendReady();
    }
    endIfAnswered();
    if (exchange.isSwitched()) {
      endIfDraining();
    } else if (!isBlocked()) {
      stall = null;
    } else if (stall == null) {
      stall = new WindowStall(now, exchange.sentBytes());
    } else if (stall.isTooLong(now, exchange.sentBytes(), shared.settings())) {
      shared.connections().resetTooSlow();
      reset(Http2Error.CANCEL);
    }
  }

  /** A tunnel may be silent, or paused, for as long as the origin's side of it allows. */
  private void endIfDraining() {
    if (shared.connections().mustEndTunnels()) {
      reset(Http2Error.CANCEL);
    }
  }

  /**
   * The answer is complete, and nobody wants the rest of the request. A client that is about to end
   * it has a moment: then it is spared the reset.
   */
  private void endIfAnswered() {
    boolean isAnswered = isAllSent() && (content == null || !content.isTaken());
    if (isAnswered && wasAnswered) {
      client.h2().answered(this);
    }
    wasAnswered = isAnswered;
  }

  // What becomes of the answer

  @Override
  protected void pauseSource() {
    exchange.pauseSource();
  }

  @Override
  protected void resumeSource() {
    exchange.resumeSource();
  }

  @Override
  protected void sent(int bytes) {
    exchange.sent(bytes);
  }

  @Override
  protected void sentEnd() {
    exchange.sentEnd();
    admission.over();
    if (content != null && !content.isTaken()) {
      content.dismiss();
    }
    if (exchange.isReusable()) {
      client.shard().giveBack(request);
    }
  }

  @Override
  protected void broken(Http2Error code, boolean byPeer) {
    String reason = byPeer ? "the client reset the stream: " : "the stream was reset: ";
    exchange.broken(Failure.of(Kind.CLIENT_GONE, reason + code));
    admission.over();
  }
}
