package io.kamille.core.origin.wire.h2;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.TrailerParser;
import io.kamille.core.h2.ErrorCode;
import io.kamille.core.h2.H2Stream;
import io.kamille.core.h2.ResponseTaker;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.wire.Attempt;
import io.kamille.core.origin.wire.OriginDeadlines;
import io.kamille.core.origin.wire.OriginDeadlines.Awaited;
import io.kamille.core.origin.wire.Repeat;
import io.kamille.core.origin.wire.RequestCarrier;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One request to an origin and its response, on one stream (RFC 9113 §8.1). Confined to its loop.
 */
final class OriginStream extends H2Stream
    implements RequestCarrier, ResponseTaker, StreamUpload.Carriage {

  /*
   * The window of the stream opens for what the client's side has taken, and for nothing else.
   * While that pauses, what is on its way is held here, so the window bounds what one slow client
   * can make us hold. It grows while nobody pauses, so that one stream can fill a long fat path.
   *
   * A response may be complete before the request: then nobody reads the rest of that (§8.1). A
   * stream that has come to its end on the wire may still hold content for a slow client.
   */
  private static final int MAX_INTERIM = 16;
  private static final int MAX_WINDOW = 8 * 1024 * 1024;

  private enum State {
    HEAD,
    CONTENT,
    OVER
  }

  private final StreamHome connection;
  private final OriginDeadlines deadlines;
  private final HeldContent held = new HeldContent();
  private State state = State.HEAD;
  private @Nullable Attempt attempt;
  private @Nullable StreamUpload upload;
  private @Nullable Failure failure;
  private @Nullable Fields trailers;
  private boolean isHeadRequest;
  private boolean isConditional;
  private boolean awaitsContinue;
  private boolean withoutContent;
  private boolean endArrived;
  private boolean paused;
  private int interims;
  private int sinceGrowthBytes;
  private int grownBytes;
  private int owedBytes;
  private long expectedBytes;
  private long receivedBytes;

  OriginStream(Carrier carrier, int id, StreamHome connection) {
    super(carrier, id);
    this.connection = connection;
    this.deadlines = new OriginDeadlines(connection.lines().settings());
  }

  // The request

  @Override
  public void send(Attempt attempt) {
    this.attempt = attempt;
    RequestHead request = attempt.exchange().request();
    RequestContent content = attempt.content();
    boolean hasContent = content.length() != 0;
    isHeadRequest = request.method() == Method.HEAD;
    isConditional = request.isConditional();
    awaitsContinue = attempt.awaitsContinue();
    deadlines.begin();
    sendHead(connection.section(attempt.exchange(), awaitsContinue), !hasContent);
    if (hasContent) {
      upload = new StreamUpload(this, content, connection.lines().head().removed());
      if (!awaitsContinue) {
        upload.start();
      }
    }
  }

  private void startUpload() {
    awaitsContinue = false;
    if (upload != null) {
      deadlines.begin();
      upload.start();
    }
  }

  @Override
  public void uploadBroke(Failure why) {
    give(why, ErrorCode.CANCEL);
  }

  @Override
  public void sendReady() {
    connection.sendReady();
  }

  @Override
  protected void pauseSource() {
    if (upload != null) {
      upload.pause();
    }
  }

  @Override
  protected void resumeSource() {
    if (upload != null) {
      upload.resume();
    }
  }

  @Override
  protected void sent(int bytes) {
    deadlines.moved();
  }

  @Override
  protected void sentEnd() {
    deadlines.begin();
  }

  private void stopUpload(String why) {
    if (upload != null) {
      upload.stop(connection.failure(Kind.CONNECTION_TERMINATED, why));
    }
  }

  // The response

  @Override
  public boolean awaitsHead() {
    return state == State.HEAD;
  }

  @Override
  public void responded(ResponseHead head, long contentLength, boolean isLast) {
    Attempt asked = attempt;
    if (asked == null) {
      return;
    }
    deadlines.moved();
    if (head.isInterim()) {
      interim(asked, head);
    } else if (head.status() == StatusCode.NOT_MODIFIED && !isConditional) {
      refuse(Kind.HTTP_PROTOCOL_ERROR, "sent a 304 nobody asked for");
    } else {
      begin(asked, head, contentLength, isLast);
    }
  }

  private void interim(Attempt asked, ResponseHead head) {
    if (++interims > MAX_INTERIM) {
      refuse(Kind.HTTP_PROTOCOL_ERROR, "sent more than 16 interim responses");
    } else if (head.status() == StatusCode.CONTINUE) {
      startUpload();
    } else {
      asked.reply().interim(head);
    }
  }

  private void begin(Attempt asked, ResponseHead head, long contentLength, boolean isLast) {
    awaitsContinue = false;
    withoutContent = isHeadRequest || StatusCode.hasNoContent(head.status());
    expectedBytes = withoutContent ? 0 : contentLength;
    if (isLast && expectedBytes > 0) {
      refuse(Kind.HTTP_RESPONSE_INCOMPLETE, "ended the response before its content");
      return;
    }
    state = State.CONTENT;
    if (head.status() >= StatusCode.BAD_REQUEST) {
      stopUpload("did not read the whole request");
    }
    ConnectionFields.remove(head.fields());
    boolean isEmpty = isLast && contentLength < 0 && !withoutContent;
    asked.answered(head);
    asked.reply().head(head, isEmpty ? 0 : contentLength);
  }

  @Override
  public void headIsTooLarge() {
    refuse(Kind.HTTP_RESPONSE_HEADER_SECTION_SIZE, "sent a response head over its limit");
  }

  @Override
  public void trailers(Fields fields) {
    TrailerParser.removeForbidden(fields);
    trailers = fields;
  }

  @Override
  protected void received(ByteBuf chunk) {
    int bytes = chunk.readableBytes();
    deadlines.moved();
    receivedBytes += bytes;
    if (state != State.CONTENT) {
      chunk.release();
      refuse(Kind.HTTP_PROTOCOL_ERROR, "sent content before its head");
    } else if (expectedBytes >= 0 && receivedBytes > expectedBytes) {
      chunk.release();
      refuse(Kind.HTTP_PROTOCOL_ERROR, "sent more content than its length says");
    } else if (paused || !held.isEmpty()) {
      held.add(chunk);
    } else {
      pass(chunk);
    }
  }

  private void pass(ByteBuf chunk) {
    int bytes = chunk.readableBytes();
    current().reply().write(chunk);
    if (state != State.CONTENT) {
      return; // the reply has given it up
    }
    sinceGrowthBytes += bytes;
    if (!paused && sinceGrowthBytes >= fullWindow() && fullWindow() < MAX_WINDOW) {
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
    if (!paused && owedBytes > 0) {
      int bytes = owedBytes;
      owedBytes = 0;
      credit(bytes);
    }
  }

  @Override
  protected void receivedEnd() {
    if (state != State.CONTENT) {
      refuse(Kind.HTTP_PROTOCOL_ERROR, "ended a response without a head");
    } else if (expectedBytes >= 0 && receivedBytes != expectedBytes) {
      refuse(Kind.HTTP_RESPONSE_INCOMPLETE, "ended the response within its content");
    } else {
      endArrived = true;
      if (held.isEmpty()) {
        finish();
      }
    }
  }

  private void finish() {
    stopUpload("did not read the whole request");
    Attempt ended = current();
    letGo();
    if (!isOver() && !isAllSent()) {
      reset(ErrorCode.CANCEL);
    }
    ended.ended();
    ended.reply().end(trailers);
  }

  private void letGo() {
    attempt = null;
    state = State.OVER;
    held.release();
    connection.returnWindow(grownBytes);
    grownBytes = 0;
  }

  // The client's side

  @Override
  public void pause() {
    paused = true;
    sinceGrowthBytes = 0;
  }

  @Override
  public void resume() {
    paused = false;
    credit();
    while (!paused && state == State.CONTENT) {
      ByteBuf chunk = held.poll();
      if (chunk == null) {
        if (endArrived) {
          finish();
        }
        return;
      }
      pass(chunk);
    }
  }

  @Override
  public void cancel(Failure why) {
    if (state == State.OVER) {
      return;
    }
    letGo();
    if (upload != null) {
      upload.stop(why);
    }
    reset(ErrorCode.CANCEL);
  }

  // What goes wrong

  private void refuse(Kind kind, String what) {
    give(connection.failure(kind, what), ErrorCode.PROTOCOL_ERROR);
  }

  /** Gives the attempt up for this reason. */
  private void give(Failure why, ErrorCode code) {
    failure = why;
    if (isOver()) {
      fail(why, Repeat.NEVER);
    } else {
      reset(code);
    }
  }

  @Override
  protected void broken(ErrorCode code, boolean byPeer) {
    if (endArrived) {
      stopUpload("did not read the whole request");
      return;
    }
    boolean isUntouched =
        state == State.HEAD && interims == 0 && (upload == null || !upload.isStarted());
    Failure ours = failure;
    if (ours != null) {
      fail(ours, Repeat.NEVER);
    } else if (!byPeer) {
      fail(connection.failure(Kind.HTTP_PROTOCOL_ERROR, "broke the rules of HTTP/2"), Repeat.NEVER);
    } else if (isUntouched) {
      fail(
          connection.ended(Kind.CONNECTION_TERMINATED, code, " before the response head"),
          code == ErrorCode.REFUSED_STREAM ? Repeat.ALWAYS : Repeat.IF_IDEMPOTENT);
    } else {
      Kind kind = state == State.HEAD ? Kind.CONNECTION_TERMINATED : Kind.HTTP_RESPONSE_INCOMPLETE;
      fail(connection.ended(kind, code, " within the exchange"), Repeat.NEVER);
    }
  }

  private void fail(Failure why, Repeat repeat) {
    Attempt failed = attempt;
    if (failed != null) {
      letGo();
      if (upload != null) {
        upload.stop(why);
      }
      connection.failed(failed, why, repeat);
    }
  }

  /** Looks at the deadlines. */
  void tick(long nowNanos) {
    Awaited awaited = awaited();
    if (deadlines.isLate(awaited, nowNanos)) {
      if (awaited == Awaited.CONTINUE) {
        startUpload();
      } else {
        give(deadlines.failure(awaited, connection.lines().origin()), ErrorCode.CANCEL);
      }
    }
  }

  private Awaited awaited() {
    boolean clientSends = upload != null && !upload.isOver() && !isBehind();
    return switch (state) {
      case HEAD ->
          paused
              ? Awaited.CLIENT
              : awaitsContinue
                  ? Awaited.CONTINUE
                  : clientSends ? Awaited.CLIENT : isAllSent() ? Awaited.HEAD : Awaited.UPLOAD;
      case CONTENT -> paused || clientSends ? Awaited.CLIENT : Awaited.CONTENT;
      case OVER -> Awaited.NOTHING;
    };
  }

  private Attempt current() {
    if (attempt == null) {
      throw new IllegalStateException("no attempt in state " + state);
    }
    return attempt;
  }
}
