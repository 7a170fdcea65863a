package io.kamille.core.client.h2;

import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.ObservedExchange;
import io.kamille.core.client.RequestAdmission;
import io.kamille.core.client.ServerShard;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h2.ErrorCode;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.RequestSink;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** One request of an HTTP/2 connection. Confined to its loop. */
final class ClientStream extends H2Stream implements StreamContent.Owner {

  private static final System.Logger LOG = System.getLogger("kamille.server");

  private final StreamClient client;
  private final ServerShard shared;
  private final RequestHead request;
  private final ObservedExchange observed;
  private final RequestAdmission admission;
  private final StreamReply reply;
  private final @Nullable Failure refusal;
  private final @Nullable StreamContent content;
  private @Nullable WindowStall stall;
  private boolean isHandedOn;
  private boolean wasAnswered;

  /**
   * A stream whose request has come.
   *
   * @param verdict whether it goes further
   * @param contentLength -1 if the request does not say
   * @param isLast whether no content follows
   */
  ClientStream(
      StreamClient client,
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
    this.observed = new ObservedExchange(shared);
    this.admission = new RequestAdmission(shared, client.tally());
    boolean isTunnel = verdict.isTunnel();
    StreamContent following =
        isLast && !isTunnel ? null : new StreamContent(this, contentLength, isTunnel);
    if (following != null && isLast) {
      following.receivedEnd();
    }
    this.content = following;
    this.reply = new StreamReply(this, client, request, observed, following);
  }

  // The request

  /** Hands the request on. */
  void begin() {
    observed.begin();
    RequestContent given = content == null ? RequestContent.NONE : content;
    Exchange exchange =
        new Exchange(shared.loop(), client.client(), client.local(), request, given, reply);
    observed.met(exchange);
    isHandedOn = true;
    reply.handling(true);
    Failure trouble = trouble();
    if (trouble == null) {
      handle(exchange);
    } else {
      reply.fail(trouble);
    }
    reply.handling(false);
    if (!reply.isEnded()) {
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
        reply.awaitsContinue();
      }
    }
    if (client.isMisdirected(request)) {
      return Failure.request(
          StatusCode.MISDIRECTED_REQUEST, "another certificate is for this authority");
    }
    Failure lack = admission.lackOfRoom(request.fields().heapBytes());
    return lack == null ? admission.refusal() : lack;
  }

  private void handle(Exchange exchange) {
    try {
      client.shard().handler().handle(exchange);
    } catch (RuntimeException | OutOfMemoryError bug) {
      LOG.log(Level.ERROR, "an exchange failed by a fault of ours: " + request.target(), bug);
      reply.failAndTell(Failure.of(Kind.PROXY_INTERNAL_ERROR, "a fault in the proxy"));
    }
  }

  @Override
  protected void received(ByteBuf chunk) {
    reply.contentComes();
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
    reply.sendContinue();
  }

  @Override
  public void contentIsMalformed(String reason) {
    observed.note(Failure.request(StatusCode.BAD_REQUEST, reason));
    reset(ErrorCode.PROTOCOL_ERROR);
  }

  @Override
  public void contentIsTooLarge() {
    reply.failAndTell(Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit"));
  }

  // Deadlines

  /** Ends an exchange whose client sends its content, or takes the answer, too slowly. */
  void lookAtDeadline() {
    long now = shared.nowNanos();
    if (content != null && content.isTooSlow(now, client.h2().partialContentBytes(this))) {
      reply.failAndTell(StreamContent.tooSlow());
      client.sendReady();
    }
    endIfAnswered();
    if (reply.isSwitched()) {
      endIfDraining();
    } else if (!isBlocked()) {
      stall = null;
    } else if (stall == null) {
      stall = new WindowStall(now, reply.sentBytes());
    } else if (stall.isTooLong(now, reply.sentBytes(), shared.settings())) {
      shared.connections().resetTooSlow();
      reset(ErrorCode.CANCEL);
    }
  }

  /** A tunnel may be silent, or paused, for as long as the origin's side of it allows. */
  private void endIfDraining() {
    if (shared.connections().mustEndTunnels()) {
      reset(ErrorCode.CANCEL);
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
    reply.source().pause();
  }

  @Override
  protected void resumeSource() {
    reply.source().resume();
  }

  @Override
  protected void sent(int bytes) {
    reply.sent(bytes);
  }

  @Override
  protected void sentEnd() {
    reply.sentEnd();
    admission.over();
    if (content != null && !content.isTaken()) {
      content.dismiss();
    }
    if (reply.isReusable()) {
      client.shard().giveBack(request);
    }
  }

  @Override
  protected void broken(ErrorCode code, boolean byPeer) {
    String reason = byPeer ? "the client reset the stream: " : "the stream was reset: ";
    reply.broken(Failure.of(Kind.CLIENT_GONE, reason + code), isHandedOn);
    admission.over();
  }
}
