package io.kamille.core.origin.wire.h2;

import io.kamille.core.content.QueuePieces;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.TrailerParser;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.ResponseTaker;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.wire.OriginExchange;
import io.kamille.core.origin.wire.OriginProgress;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import org.jspecify.annotations.Nullable;

/**
 * One request to an origin and its response, on one stream (RFC 9113 §8.1). Confined to its loop.
 */
final class H2OriginStream extends H2Stream implements OriginExchange.Framing, ResponseTaker {

  /*
   * The window of the stream opens for what the client's side has taken, and for nothing else.
   * While that pauses, what is on its way is held here, so the window bounds what one slow client
   * can make us hold. It grows while nobody pauses, so that one stream can fill a long fat path.
   *
   * A stream that has come to its end on the wire may still hold content for a slow client.
   */
  private static final int MAX_WINDOW = 8 * 1024 * 1024;

  private static final Failure LET_GO =
      Failure.of(ErrorType.CLIENT_GONE, "nobody takes the rest of the response");

  private final H2OriginConnection connection;
  private final OriginExchange exchange;
  private final QueuePieces held = new QueuePieces();
  private @Nullable Fields trailers;
  private boolean isHeadRequest;
  private int sinceGrowthBytes;
  private int grownBytes;
  private int owedBytes;
  private long expectedBytes;
  private long receivedBytes;

  H2OriginStream(Carrier carrier, int id, H2OriginConnection connection) {
    super(carrier, id);
    this.connection = connection;
    H2Lines lines = connection.lines();
    this.exchange =
        new OriginExchange(this, lines.origin(), lines.head().removed(), lines.settings());
    held.giveTo(new Taker());
  }

  OriginExchange exchange() {
    return exchange;
  }

  // The request

  @Override
  public void sendHead(Exchange asked, RequestContent content, boolean expects) {
    isHeadRequest = asked.request().method() == Method.HEAD;
    sendHead(connection.section(asked, content.length(), expects), content.length() == 0);
  }

  @Override
  public void sendContent(ByteBuf chunk) {
    send(chunk);
    connection.sendReady();
  }

  @Override
  public void endContent(@Nullable Fields fields) {
    sendEnd(fields);
    connection.sendReady();
  }

  @Override
  public void stopContent() {}

  @Override
  public boolean takesMore() {
    return !isBehind();
  }

  @Override
  public boolean hasSentAll() {
    return isAllSent();
  }

  @Override
  protected void pauseSource() {
    exchange.pauseUpload();
  }

  @Override
  protected void resumeSource() {
    exchange.resumeUpload();
  }

  @Override
  protected void sent(int bytes) {
    exchange.moved();
  }

  @Override
  protected void sentEnd() {
    exchange.sentAll();
  }

  // The response

  @Override
  public boolean awaitsHead() {
    return exchange.awaitsHead();
  }

  @Override
  public boolean isHeadBegun() {
    return false;
  }

  @Override
  public void responded(ResponseHead head, long contentLength, boolean isLast) {
    if (!exchange.isActive()) {
      return;
    }
    exchange.moved();
    if (head.isInterim()) {
      exchange.interim(head);
    } else if (exchange.accepts(head)) {
      begin(head, contentLength, isLast);
    }
  }

  private void begin(ResponseHead head, long contentLength, boolean isLast) {
    boolean withoutContent = isHeadRequest || StatusCode.hasNoContent(head.status());
    expectedBytes = withoutContent ? 0 : contentLength;
    if (isLast && expectedBytes > 0) {
      exchange.refuse(ErrorType.HTTP_RESPONSE_INCOMPLETE, "ended the response before its content");
      return;
    }
    ConnectionFields.remove(head.fields());
    boolean isEmpty = isLast && contentLength < 0 && !withoutContent;
    exchange.head(head, isEmpty ? 0 : contentLength, null);
  }

  @Override
  public void headIsTooLarge() {
    exchange.refuse(
        ErrorType.HTTP_RESPONSE_HEADER_SECTION_SIZE, "sent a response head over its limit");
  }

  @Override
  public void trailers(Fields fields) {
    TrailerParser.removeForbidden(fields);
    trailers = fields;
  }

  @Override
  protected void received(ByteBuf chunk) {
    exchange.moved();
    receivedBytes += chunk.readableBytes();
    if (!exchange.awaitsContent()) {
      chunk.release();
      exchange.refuse(ErrorType.HTTP_PROTOCOL_ERROR, "sent content before its head");
    } else if (expectedBytes >= 0 && receivedBytes > expectedBytes) {
      chunk.release();
      exchange.refuse(ErrorType.HTTP_PROTOCOL_ERROR, "sent more content than its length says");
    } else {
      held.write(chunk);
    }
  }

  /** What was held goes on. */
  private final class Taker implements ContentSink {

    @Override
    public void write(ByteBuf chunk) {
      int bytes = chunk.readableBytes();
      exchange.content(chunk);
      if (exchange.awaitsContent()) {
        taken(bytes);
      }
    }

    @Override
    public void end(@Nullable Fields fields) {
      exchange.complete(fields);
    }

    /** A queue in memory breaks off nothing by itself. */
    @Override
    public void abort(Failure why) {
      exchange.fail(why);
    }
  }

  private void taken(int bytes) {
    sinceGrowthBytes += bytes;
    if (!exchange.isPaused() && sinceGrowthBytes >= fullWindow() && fullWindow() < MAX_WINDOW) {
      sinceGrowthBytes = 0;
      int more = connection.lendWindow(fullWindow());
      grownBytes += more;
      growReceiveWindow(more);
    }
    owedBytes += bytes;
    credit();
  }

  /** Opens the window for what was taken. */
  private void credit() {
    if (!exchange.isPaused() && owedBytes > 0) {
      int bytes = owedBytes;
      owedBytes = 0;
      credit(bytes);
    }
  }

  @Override
  protected void receivedEnd() {
    if (!exchange.awaitsContent()) {
      exchange.refuse(ErrorType.HTTP_PROTOCOL_ERROR, "ended a response without a head");
    } else if (expectedBytes >= 0 && receivedBytes != expectedBytes) {
      exchange.refuse(ErrorType.HTTP_RESPONSE_INCOMPLETE, "ended the response within its content");
    } else {
      held.end(trailers);
      if (held.isEmpty() && exchange.awaitsContent()) {
        // The stream is over, however slow the client is.
        exchange.complete(trailers);
      }
    }
  }

  @Override
  public void pauseResponse() {
    sinceGrowthBytes = 0;
    held.pause();
  }

  @Override
  public void resumeResponse() {
    credit();
    held.resume();
  }

  // The end

  @Override
  public void completed() {
    letGo();
    if (!isOver() && !isAllSent()) {
      reset(Http2Error.CANCEL);
    }
  }

  @Override
  public void abandon(Http2Error code) {
    letGo();
    if (!isOver()) {
      reset(code);
    }
  }

  private void letGo() {
    held.cancel(LET_GO);
    connection.returnWindow(grownBytes);
    grownBytes = 0;
  }

  @Override
  protected void broken(Http2Error code, boolean byPeer) {
    if (!exchange.isActive()) {
      return;
    }
    if (held.isComplete()) {
      exchange.stopUpload();
    } else if (!byPeer) {
      String what = "broke the rules of HTTP/2" + fault();
      exchange.fail(connection.failure(ErrorType.HTTP_PROTOCOL_ERROR, what));
    } else if (exchange.progress() == OriginProgress.UNKNOWN) {
      Failure why =
          connection.ended(ErrorType.CONNECTION_TERMINATED, code, " before the response head");
      if (code == Http2Error.REFUSED_STREAM) {
        exchange.fail(why, connection.refusal());
      } else {
        exchange.fail(why, connection.afterReset());
      }
    } else {
      ErrorType kind =
          awaitsHead() ? ErrorType.CONNECTION_TERMINATED : ErrorType.HTTP_RESPONSE_INCOMPLETE;
      exchange.fail(connection.ended(kind, code, " within the exchange"));
    }
  }

  @Override
  public boolean isCounted(OriginProgress progress) {
    return connection.isCounted(progress);
  }

  /** Looks at the deadlines. */
  void tick(long nowNanos) {
    exchange.tick(nowNanos);
  }
}
