package io.kamille.core.client.h1;

import io.kamille.core.client.ClientContent;
import io.kamille.core.client.ClientExchange;
import io.kamille.core.client.LingeringClose;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.h1.ReplyWriter.ConnectionLine;
import io.kamille.core.exchange.ConnectionExchange;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.gate.Overload;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.ContentDecoder;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.h1.RequestParser;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * One request of an HTTP/1.1 connection, from the first octet of its head to the last of its
 * content and its answer, and whether the connection goes on behind it (RFC 9112 §9.3). Used for
 * one request after the other. Confined to its loop.
 */
final class H1Exchange extends ClientExchange {

  /*
   * The connection goes on if the client lets it, if the answer has an end of its own, and if all
   * content of the request came or dropping the rest costs less than a new connection. That is
   * settled with the head of the answer, which says so; afterwards it can only get worse. The
   * connection is told once, when nothing of the exchange is left: exchangeEnded.
   */

  /** Unwanted content up to this length is read and dropped to keep the connection. */
  private static final long DRAIN_BYTES = 64 * 1024;

  private static final long OF_CONNECTION =
      Fields.mask(FieldName.CONNECTION, FieldName.CONTENT_LENGTH, FieldName.TRANSFER_ENCODING);

  private final ExchangeHandler handler;
  private final HeadLimits limits;
  private final RequestParser parser;
  private final ReplyWriter writer;
  private @Nullable H1ClientConnection connection;
  private @Nullable ConnectionExchange exchange;
  private @Nullable Content content;
  private @Nullable ClientTunnel tunnel;
  private long framing;
  private long unsentBytes;
  private boolean isPersistent;
  private boolean isLastSaid;
  private boolean hasLeft;

  H1Exchange(ServerShard server, ExchangeHandler handler, ReplyWriter writer) {
    HeadLimits limits = server.settings().head();
    RequestParser parser = new RequestParser(limits);
    super(server, parser.head());
    this.handler = handler;
    this.limits = limits;
    this.parser = parser;
    this.writer = writer;
  }

  /** What its parser goes by. */
  HeadLimits limits() {
    return limits;
  }

  // The head

  /** The first octet of a request has come. */
  void begin(H1ClientConnection connection) {
    this.connection = connection;
    reset();
    parser.reset();
    writer.begin(connection.output());
    content = null;
    tunnel = null;
    unsentBytes = 0;
    isPersistent = false;
    isLastSaid = false;
    hasLeft = false;
  }

  /** Lets go of everything but the memory worth keeping. */
  void forget() {
    connection = null;
    content = null;
    writer.forget();
  }

  /** What reads the head. */
  RequestParser parser() {
    return parser;
  }

  /** Octets of heap that the head takes so far. */
  int headBytes() {
    return parser.heapBytes();
  }

  // The request

  /** Hands the complete request on; answers whether the exchange is still under way. */
  boolean handle() {
    Failure unfit = connectionFields();
    Failure trouble = unfit == null ? expectation(framing != 0) : unfit;
    boolean isFollowed =
        trouble == null && (framing != 0 || request().fields().has(FieldName.UPGRADE));
    Content given = isFollowed ? new Content(this, framing) : null;
    content = given;
    complete(given);
    isLastSaid = trouble == null && given == null && !isPersistent;
    isPersistent = trouble == null && isPersistent;
    Exchange met = exchange(given == null ? RequestContent.NONE : given);
    handOn(met, handler, trouble == null ? refusal() : trouble);
    boolean isOver = isOver();
    endIfOver();
    return !isOver;
  }

  /**
   * Reads what concerns the connection. Returns why the request goes no further; null if it may.
   */
  private @Nullable Failure connectionFields() {
    RequestHead head = request();
    Fields fields = head.fields();
    isPersistent = head.minorVersion() == 1;
    framing = 0;
    if (fields.hasAny(OF_CONNECTION)) {
      isPersistent =
          !ConnectionFields.names(fields, "close")
              && (isPersistent || ConnectionFields.names(fields, "keep-alive"));
      framing = MessageFraming.of(head);
      if (framing > settings().maxContentBytes()) {
        return Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit");
      }
    }
    if (head.method() == Method.CONNECT) {
      return Failure.request(StatusCode.METHOD_NOT_ALLOWED, "CONNECT is for forward proxies");
    }
    return ConnectionFields.isExcessive(fields)
        ? Failure.request(StatusCode.BAD_REQUEST, "Connection names too much")
        : null;
  }

  private Exchange exchange(RequestContent given) {
    H1ClientConnection here = connection();
    InetSocketAddress client = request().client(here.client());
    ConnectionExchange met = exchange;
    if (met == null) {
      met = new ConnectionExchange(server.loop(), client, here.local(), request(), given, this);
      exchange = met;
    } else {
      met.reuse(client, here.local(), request(), given, this);
    }
    met.notes().tlsVersion(here.tlsVersion());
    return met;
  }

  private @Nullable Failure refusal() {
    if (!request().hasSchemeOfConnection()) {
      return Failure.request(
          StatusCode.MISDIRECTED_REQUEST, "another scheme than the connection's");
    }
    Failure lack = connection().admission().lackOfRoom(headBytes());
    if (lack != null) {
      isPersistent = false;
      return lack;
    }
    return connection().admission().refusal(request());
  }

  /** Answers a head that is malformed, late or too large; the connection ends with it. */
  void refuse(Failure failure) {
    met(exchange(RequestContent.NONE));
    isPersistent = false;
    fail(failure);
  }

  /** The request is malformed, late or cut short: the connection ends, everyone concerned hears. */
  void breakOff(Failure why) {
    isPersistent = false;
    failAndTell(why);
    endIfOver();
  }

  // What the client sends

  boolean wantsContent() {
    return content != null && content.isWanted();
  }

  /** Whether the client sends its content slower than it must. */
  boolean isUploadTooSlow() {
    return content != null && content.isTooSlow();
  }

  /** Borrows the buffer. */
  void contentArrived(ByteBuf in) {
    contentComes();
    connection().progress();
    if (content != null) {
      content.arrived(in);
      endIfOver();
    }
  }

  /** Octets came for the tunnel, of which false leaves all. Borrows the buffer. */
  boolean tunnelArrived(ByteBuf in) {
    ClientTunnel to = tunnel;
    if (to == null || !to.isStarted()) {
      return false;
    }
    connection().progress();
    to.arrived(in.readRetainedSlice(in.readableBytes()));
    return true;
  }

  void tunnelInputClosed() {
    if (tunnel != null) {
      tunnel.end();
      endIfTunnelIsOver();
    }
  }

  // For the content

  @Override
  public long now() {
    server.time().update();
    return server.nowNanos();
  }

  private void wantContent() {
    if (isUnderWay()) {
      connection().progress();
      connection().processWaiting();
    }
  }

  private void readMore(boolean wanted) {
    if (isUnderWay()) {
      connection().readMore(wanted);
    }
  }

  @Override
  public void contentIsTooLarge() {
    if (isUnderWay()) {
      breakOff(Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit"));
    }
  }

  private void contentCancelled() {
    contentIsDropped();
    if (isOver()) {
      endIfOver();
    } else {
      wantContent();
    }
  }

  private boolean cancelTunnel() {
    if (tunnel == null || !tunnel.isOpen()) {
      return false;
    }
    tunnel.close();
    endIfTunnelIsOver();
    return true;
  }

  // Whether the connection goes on

  /** Nobody takes the rest of the content: the connection goes on if dropping it is cheap. */
  private void contentIsDropped() {
    isPersistent = isPersistent && content != null && content.mayBeDropped();
  }

  private void settlePersistence() {
    isPersistent = isPersistent && !writer.endsWithConnection() && !connection().mustClose();
    if (content != null && !content.isComplete() && !content.isWanted()) {
      contentIsDropped();
    }
  }

  /** What the answer says of it. */
  private ConnectionLine line() {
    if (!isPersistent) {
      return ConnectionLine.CLOSE;
    }
    return request().minorVersion() == 0 ? ConnectionLine.KEEP_ALIVE : ConnectionLine.NONE;
  }

  @Override
  protected void dismissContent() {
    if (content != null && !content.isComplete()) {
      super.dismissContent();
      contentIsDropped();
    }
  }

  boolean endsConnection() {
    return !isPersistent;
  }

  /** Whether the request has no content, and said that the client sends nothing behind it. */
  boolean isLastSaid() {
    return isLastSaid;
  }

  // The answer

  @Override
  protected boolean isClientSlow() {
    return !connection().output().isWritable();
  }

  @Override
  protected void sendInterim(ResponseHead head) {
    writer.interim(head);
  }

  @Override
  protected @Nullable Failure misfit(@Nullable ResponseHead head) {
    return head != null && head.status() == StatusCode.SWITCHING_PROTOCOLS && !maySwitch()
        ? Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, "a switch of protocols nobody asked for")
        : null;
  }

  /** Whether the client may be talked to in another protocol from now on (RFC 9110 §7.8). */
  private boolean maySwitch() {
    return request().minorVersion() == 1
        && request().fields().has(FieldName.UPGRADE)
        && content != null
        && content.isComplete();
  }

  @Override
  protected boolean sendHead(
      ResponseHead head, long contentLength, boolean isLast, @Nullable ByteBuf whole) {
    writer.frame(request(), head.status(), contentLength);
    settlePersistence();
    if (head.status() != StatusCode.SWITCHING_PROTOCOLS) {
      return writer.head(head, line(), whole);
    }
    writer.head(head, ConnectionLine.UPGRADE, null);
    tunnel = new ClientTunnel();
    connection().becomeTunnel();
    return false;
  }

  @Override
  protected void send(ByteBuf chunk) {
    writer.write(chunk);
    if (tunnel != null) {
      connection().progress();
    }
  }

  @Override
  public boolean takesRegions() {
    return !isEnded() && writer.isPlain() && connection().takesRegions();
  }

  @Override
  protected void send(FileRegion region) {
    writer.write(region);
  }

  /** Takes back what was counted as sent and was not, before the client went away. */
  void notSent(long bytes) {
    unsentBytes += bytes;
  }

  @Override
  protected long sentBytes() {
    return givenBytes() - unsentBytes;
  }

  @Override
  protected void sendEnd(@Nullable Fields trailers) {
    if (tunnel == null) {
      writer.end(trailers);
      finishAnswer();
    } else {
      answered();
      ClientTunnel.endOutput(connection().output().channel());
      endIfTunnelIsOver();
    }
  }

  @Override
  protected void sendStored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    settlePersistence();
    writer.stored(status, ownLines, ownLength, line(), linesAndContent);
    finishAnswer();
  }

  @Override
  protected void sendStoredHead(int status, byte[] ownLines, int ownLength, ByteBuf lines) {
    settlePersistence();
    writer.stored(status, ownLines, ownLength, line(), lines);
  }

  @Override
  protected void sendShed() {
    begin(Overload.SHED.status(), 0);
    settlePersistence();
    int retryAfter = server.shedder().retryAfterSeconds();
    if (isPersistent) {
      connection().holdBack(server.shedder().holdNanos(retryAfter));
    }
    writer.shed(retryAfter, line());
    finishAnswer();
  }

  @Override
  protected void breakOffAnswer() {
    isPersistent = false;
    dismissContent();
    LingeringClose.breakOff(connection().output().channel(), writer.endsWithConnection());
    finishAnswer();
  }

  // The end

  private void finishAnswer() {
    finish();
    if (isPersistent && content != null && !content.isComplete() && !content.isTaken()) {
      content.drop();
    }
    endIfOver();
  }

  private void endIfTunnelIsOver() {
    if (tunnel != null && isEnded() && !tunnel.isOpen()) {
      finishAnswer();
    }
  }

  /** Tells the connection if the exchange is over, and its handler has returned. */
  private void endIfOver() {
    if (!isHandling() && isUnderWay() && isOver()) {
      connection().exchangeEnded();
    }
  }

  /** Whether the answer is out and nothing of the request is left to read, or to matter. */
  private boolean isOver() {
    return isEnded()
        && (tunnel == null || !tunnel.isOpen())
        && (content == null || content.isOver(isPersistent));
  }

  /** The client has closed its side, and is taken for gone: what was begun is broken off. */
  void leftBy(Failure why) {
    if (isBegun()) {
      breakOff(why);
    } else {
      gone(why);
    }
  }

  /** The client went away, whatever we were about to say. */
  void gone(Failure why) {
    hasLeft = true;
    clientGone(why);
    if (tunnel != null) {
      tunnel.abort(why);
    }
  }

  /** The connection goes on without this exchange. */
  void leave() {
    hasLeft = true;
  }

  /** Whether the connection is still ours: a station may speak of us long after. */
  boolean isUnderWay() {
    return !hasLeft;
  }

  private H1ClientConnection connection() {
    if (connection == null) {
      throw new IllegalStateException("connection: the exchange has none");
    }
    return connection;
  }

  /** The content of the request, as it comes off the wire. */
  private static final class Content extends ClientContent {

    private final H1Exchange owner;
    private final ContentDecoder decoder;
    private final ContentSink taking = new Taking();

    /** Content as {@link MessageFraming} found it. */
    Content(H1Exchange owner, long framing) {
      super(owner, framing == MessageFraming.CHUNKED ? UNKNOWN_LENGTH : framing);
      this.owner = owner;
      this.decoder = ContentDecoder.of(framing);
    }

    @Override
    protected void started() {
      if (length() == 0) {
        decoder.decode(Unpooled.EMPTY_BUFFER, taking);
      } else {
        owner.wantContent();
      }
    }

    @Override
    public void tunnel(ContentSink sink) {
      if (owner.tunnel != null && owner.tunnel.start(sink)) {
        owner.wantContent();
      } else {
        sink.abort(Failure.of(ErrorType.CLIENT_GONE, "there is no tunnel"));
      }
    }

    @Override
    public void pause() {
      super.pause();
      owner.readMore(false);
    }

    @Override
    public void resume() {
      super.resume();
      owner.readMore(true);
    }

    @Override
    public void cancel(Failure why) {
      if (!owner.cancelTunnel() && !isComplete() && !isDropped()) {
        dismiss();
        clientMaySend();
        owner.contentCancelled();
      }
    }

    @Override
    protected boolean isComplete() {
      return length() == 0 || decoder.isComplete();
    }

    /** Whether somebody waits for octets, be it to drop them. */
    boolean isWanted() {
      return (sink() != null || isDropped()) && !isComplete();
    }

    boolean isTooSlow() {
      return isWanted() && isBelowLeastRate(owner.server.nowNanos(), octets());
    }

    /** Whether the connection may go on without it: all came, or nobody takes the rest. */
    boolean isOver(boolean persistent) {
      return isComplete() || (!persistent && sink() == null);
    }

    /** Whether dropping the rest is cheaper than a new connection. */
    boolean mayBeDropped() {
      return length() != UNKNOWN_LENGTH && length() <= DRAIN_BYTES && !owner.awaitsContinue();
    }

    /** Nobody takes the rest: read and drop it. */
    void drop() {
      dismiss();
      clientMaySend();
      owner.wantContent();
    }

    /** Takes octets off the wire. Borrows the buffer. */
    void arrived(ByteBuf in) {
      came(in.readableBytes());
      if (decoder.decode(in, taking) == ContentDecoder.Outcome.MALFORMED) {
        in.skipBytes(in.readableBytes());
        owner.breakOff(Failure.request(StatusCode.BAD_REQUEST, decoder.failure().reason()));
      }
    }

    /** Whoever takes the content at the moment: that may change between two chunks of one read. */
    private final class Taking implements ContentSink {

      @Override
      public void write(ByteBuf chunk) {
        ContentSink taker = sink();
        if (taker == null) {
          chunk.release();
        } else {
          taker.write(chunk);
        }
      }

      @Override
      public void end(@Nullable Fields trailers) {
        ContentSink taker = sink();
        if (taker != null) {
          taker.end(trailers);
        }
      }

      @Override
      public void abort(Failure why) {
        throw new IllegalStateException("abort: a decoder never does");
      }
    }
  }
}
