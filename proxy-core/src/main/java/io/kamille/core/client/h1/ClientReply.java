package io.kamille.core.client.h1;

import io.kamille.core.client.FailureReply;
import io.kamille.core.client.LingeringClose;
import io.kamille.core.client.ObservedExchange;
import io.kamille.core.client.ReplySource;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.h1.ReplyHeads.ConnectionLine;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Reply;
import io.kamille.core.gate.Overload;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request of an HTTP/1.1 connection, and whether the connection goes on behind
 * it. Used for one request after the other. Confined to its loop.
 */
final class ClientReply implements Reply {

  private static final Failure TOO_MUCH =
      Failure.of(Kind.HTTP_PROTOCOL_ERROR, "more content than its length says");

  private enum State {
    WAITING,
    BEGUN,
    ENDED
  }

  private final ServerShard shared;
  private final ReplyWriter writer;
  private final ObservedExchange observed;
  private final Persistence persistence;
  private final ReplySource source = new ReplySource();
  private final RequestHead request;
  private @Nullable Carrier carrier;
  private @Nullable ClientTunnel tunnel;
  private State state = State.WAITING;
  private int status;
  private boolean stored;
  private boolean gone;
  private boolean left;

  /** The answers to requests that have this head, one after the other. */
  ClientReply(
      ServerShard shared,
      RequestHead request,
      ReplyWriter writer,
      Persistence persistence,
      ObservedExchange observed) {
    this.shared = shared;
    this.request = request;
    this.writer = writer;
    this.persistence = persistence;
    this.observed = observed;
  }

  // From the request

  /** The first octet of a request has come. */
  void begin(Carrier carrier) {
    this.carrier = carrier;
    writer.begin(carrier.output());
    observed.begin();
    persistence.begin();
    state = State.WAITING;
    status = 0;
    stored = false;
    gone = false;
    left = false;
  }

  /** Lets go of everything but the memory worth keeping. */
  void forget() {
    carrier = null;
    writer.forget();
  }

  // To the client

  @Override
  public void open(ContentSource source) {
    if (isEnded()) {
      source.cancel(Failure.of(Kind.CLIENT_GONE, "the exchange is over"));
      return;
    }
    this.source.open(source);
    if (!carrier().output().isWritable()) {
      source.pause();
    }
  }

  @Override
  public void interim(ResponseHead head) {
    if (!gone && state == State.WAITING) {
      writer.interim(request, head);
    }
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    head(head, contentLength, null);
  }

  @Override
  public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    if (gone || state != State.WAITING) {
      return false;
    }
    if (head.status() == StatusCode.SWITCHING_PROTOCOLS && !maySwitch()) {
      failAndTell(Failure.of(Kind.HTTP_PROTOCOL_ERROR, "a switch of protocols nobody asked for"));
      return false;
    }
    state = State.BEGUN;
    status = head.status();
    writer.frame(request, status, contentLength);
    settlePersistence();
    if (status != StatusCode.SWITCHING_PROTOCOLS) {
      return writer.head(head, persistence.line(request), whole);
    }
    writer.head(head, ConnectionLine.UPGRADE, null);
    tunnel = new ClientTunnel();
    carrier().becomeTunnel();
    return false;
  }

  /** Whether the client may be talked to in another protocol from now on (RFC 9110 §7.8). */
  private boolean maySwitch() {
    return request.minorVersion() == 1
        && request.fields().has(FieldName.UPGRADE)
        && persistence.isContentComplete();
  }

  private void settlePersistence() {
    persistence.settle(writer.endsWithConnection() || carrier().mustClose());
  }

  @Override
  public void write(ByteBuf chunk) {
    if (gone || state != State.BEGUN || writer.hasNoContent()) {
      chunk.release();
    } else if (!writer.write(chunk)) {
      failAndTell(TOO_MUCH);
    } else if (tunnel != null) {
      carrier().progress();
    }
  }

  @Override
  public boolean takesRegions() {
    return !gone && writer.isPlain() && carrier().takesRegions();
  }

  @Override
  public void write(FileRegion region) {
    if (gone || state != State.BEGUN || writer.hasNoContent()) {
      region.release();
    } else if (!takesRegions()) {
      Reply.super.write(region);
    } else if (!writer.write(region)) {
      failAndTell(TOO_MUCH);
    }
  }

  /** Takes back what was counted as sent and was not, before the client went away. */
  void notSent(long bytes) {
    writer.notSent(bytes);
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (gone || state != State.BEGUN) {
      return;
    }
    if (tunnel != null) {
      state = State.ENDED;
      source.release();
      ClientTunnel.endOutput(carrier().output().channel());
      endIfTunnelIsOver();
    } else if (writer.end(trailers)) {
      finish();
    } else {
      source.release();
      failAndTell(Failure.of(Kind.HTTP_RESPONSE_INCOMPLETE, "less content than its length says"));
    }
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    if (beginStored(status, ownLines, ownLength, linesAndContent)) {
      writer.sentWhole(contentLength);
      stored = true;
      finish();
    }
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    if (beginStored(status, ownLines, ownLength, lines)) {
      writer.announced(contentLength);
    }
  }

  private boolean beginStored(int status, byte[] ownLines, int ownLength, ByteBuf rest) {
    if (gone || state != State.WAITING) {
      rest.release();
      return false;
    }
    state = State.BEGUN;
    this.status = status;
    settlePersistence();
    writer.stored(status, ownLines, ownLength, persistence.line(request), rest);
    return true;
  }

  // Trouble

  @Override
  public void fail(Failure failure) {
    if (gone || state == State.ENDED) {
      return;
    }
    if (state == State.BEGUN) {
      abort(failure);
      return;
    }
    observed.note(failure);
    persistence.dismissContent();
    if (failure.equals(Overload.SHED)) {
      shed();
      return;
    }
    FailureReply answer =
        FailureReply.of(failure, shared.name(), observed.notes(), shared.settings());
    head(answer.head(), answer.content().length);
    write(Unpooled.wrappedBuffer(answer.content()));
    end(null);
  }

  private void shed() {
    state = State.BEGUN;
    status = Overload.SHED.status();
    settlePersistence();
    int retryAfter = shared.shedder().retryAfterSeconds();
    if (persistence.isPersistent()) {
      carrier().holdBack(shared.shedder().holdNanos(retryAfter));
    }
    writer.shed(retryAfter, persistence.line(request));
    finish();
  }

  /** Fails for a reason that the stations do not know of. */
  void failAndTell(Failure why) {
    ContentSource asked = source.release();
    ContentSink taker = persistence.releaseTaker();
    fail(why);
    if (asked != null) {
      asked.cancel(why);
    }
    if (taker != null) {
      taker.abort(why);
    }
  }

  /** The request is malformed, late or cut short: the connection ends, everyone concerned hears. */
  void breakOff(Failure why) {
    persistence.end();
    failAndTell(why);
    endIfOver();
  }

  @Override
  public void abort(Failure why) {
    if (gone || state == State.ENDED) {
      return;
    }
    if (state == State.WAITING) {
      fail(why);
      return;
    }
    observed.note(why);
    persistence.end();
    persistence.dismissContent();
    LingeringClose.breakOff(carrier().output().channel(), writer.endsWithConnection());
    finish();
  }

  /** The client went away, whatever we were about to say. */
  void clientGone(Failure why) {
    if (gone) {
      return;
    }
    gone = true;
    ContentSource asked = source.release();
    if (asked != null) {
      asked.cancel(why);
    }
    persistence.breakOff(why);
    if (tunnel != null) {
      tunnel.abort(why);
    }
    if (state != State.ENDED || tunnel != null) {
      observed.note(why);
      observed.end(status, writer.sentBytes());
    }
    state = State.ENDED;
  }

  /** Where the content of the answer comes from. */
  ReplySource source() {
    return source;
  }

  // The end

  private void finish() {
    state = State.ENDED;
    source.release();
    observed.end(status, writer.sentBytes());
    persistence.answered();
    endIfOver();
  }

  /** Ends the exchange if both ways of the tunnel are closed. */
  void endIfTunnelIsOver() {
    if (tunnel != null && state == State.ENDED && !tunnel.isOpen()) {
      finish();
    }
  }

  /** Tells the connection if the exchange is over. */
  void endIfOver() {
    if (isOver() && !left) {
      carrier().exchangeEnded();
    }
  }

  /** Whether the answer is out and nothing of the request is left to read, or to matter. */
  boolean isOver() {
    return state == State.ENDED
        && (tunnel == null || !tunnel.isOpen())
        && persistence.isContentOver();
  }

  @Override
  public boolean isBegun() {
    return state != State.WAITING;
  }

  @Override
  public boolean isEnded() {
    return state == State.ENDED || gone;
  }

  /** Whether the answer was a stored one, sent in one go. */
  boolean wasStored() {
    return stored;
  }

  boolean endsConnection() {
    return !persistence.isPersistent();
  }

  /** The connection goes on without this exchange. */
  void leave() {
    left = true;
  }

  /** Whether the connection is still ours: a station may speak of us long after. */
  boolean isUnderWay() {
    return !gone && !left;
  }

  /** The tunnel that the connection has become, if it has. */
  @Nullable ClientTunnel tunnel() {
    return tunnel;
  }

  private Carrier carrier() {
    if (carrier == null) {
      throw new IllegalStateException("carrier: the reply has no connection");
    }
    return carrier;
  }
}
