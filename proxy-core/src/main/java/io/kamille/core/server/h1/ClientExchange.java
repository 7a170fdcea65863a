package io.kamille.core.server.h1;

import io.kamille.core.admission.Overload;
import io.kamille.core.content.ContentSink;
import io.kamille.core.content.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.h1.ChunkedEncoder;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.h1.RequestParser;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.server.connection.ServerShard;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.FileRegion;
import io.netty.channel.socket.DuplexChannel;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * One request of an HTTP/1.1 connection and the reply to it, from the first octet of the head to
 * the last of the answer. Confined to its loop.
 */
final class ClientExchange implements Reply {

  private static final System.Logger LOG = System.getLogger("kamille.server");
  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CLOSE = "Connection: close\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] KEEP_ALIVE =
      "Connection: keep-alive\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] UPGRADE =
      "Connection: upgrade\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CHUNKED =
      "Transfer-Encoding: chunked\r\n".getBytes(StandardCharsets.US_ASCII);

  /** Connection options and what we must look at before we hand a request on. */
  private static final long SPECIAL =
      Fields.mask(
          FieldName.CONNECTION,
          FieldName.EXPECT,
          FieldName.UPGRADE,
          FieldName.CONTENT_LENGTH,
          FieldName.TRANSFER_ENCODING);

  private enum State {
    WAITING,
    BEGUN,
    ENDED
  }

  private final H1Shard shard;
  private final ServerShard shared;
  private final HeadLimits limits;
  private final RequestParser parser;
  private @Nullable Exchange exchange;
  private @Nullable ClientConnection connection;
  private @Nullable ClientContent content;
  private @Nullable ContentSource source;
  private State state = State.WAITING;
  private int status;
  private long startNanos;
  private long sentBytes;
  private long expectedBytes;
  private boolean persistent;
  private boolean chunked;
  private boolean closeDelimited;
  private boolean withoutContent;
  private boolean awaitsContinue;
  private boolean tunnel;
  private boolean gone;
  private boolean met;
  private boolean reusable;

  ClientExchange(H1Shard shard, HeadLimits limits) {
    this.shard = shard;
    this.shared = shard.server;
    this.limits = limits;
    this.parser = new RequestParser(limits);
  }

  /** What its parser goes by. */
  HeadLimits limits() {
    return limits;
  }

  // The connection's side

  void begin(ClientConnection connection) {
    this.connection = connection;
    parser.reset();
    state = State.WAITING;
    status = 0;
    sentBytes = 0;
    persistent = false;
    chunked = false;
    closeDelimited = false;
    awaitsContinue = false;
    tunnel = false;
    gone = false;
    met = false;
    reusable = false;
    startNanos = shared.nowNanos();
  }

  /** Lets go of everything but the memory worth keeping. */
  void forget() {
    connection = null;
    content = null;
    source = null;
  }

  RequestParser.Outcome parse(ByteBuf in) {
    return parser.parse(in);
  }

  /** Octets of heap that the head takes so far. */
  int headBytes() {
    return parser.heapBytes();
  }

  Failure parseFailure() {
    return parser.failure();
  }

  RequestHead request() {
    return parser.head();
  }

  /** Hands the complete request on. */
  void handle() {
    RequestHead head = parser.head();
    startNanos = shared.nowNanos();
    persistent = head.minorVersion() == 1;
    RequestContent given = RequestContent.NONE;
    if (head.fields().hasAny(SPECIAL)) {
      Failure trouble = special(head);
      if (trouble != null) {
        refuse(trouble);
        return;
      }
      if (content != null) {
        given = content;
      }
    }
    if (head.method() == Method.CONNECT) {
      refuse(Failure.request(StatusCode.METHOD_NOT_ALLOWED, "CONNECT is for forward proxies"));
      return;
    }
    if (ConnectionFields.isExcessive(head.fields())) {
      refuse(Failure.request(StatusCode.BAD_REQUEST, "Connection names too much"));
      return;
    }
    Exchange current = meet(given);
    if (!head.hasSchemeOfConnection()) {
      fail(Failure.request(StatusCode.MISDIRECTED_REQUEST, "another scheme than the connection's"));
      return;
    }
    Failure refusal = shared.headsUnderWay().refusal(headBytes());
    if (refusal != null) {
      persistent = false;
      fail(refusal);
      return;
    }
    if (connection().refusesRequest()) {
      fail(Failure.busyClient("too many requests of this client are under way", 1));
      return;
    }
    if (shared.shedder().shedsAtOnce()) {
      fail(Overload.SHED);
      return;
    }
    try {
      shared.handler().handle(current);
    } catch (RuntimeException | OutOfMemoryError bug) {
      LOG.log(Level.ERROR, "an exchange failed by a fault of ours: " + head.target(), bug);
      failAndTell(Failure.of(Kind.PROXY_INTERNAL_ERROR, "a fault in the proxy"));
    }
  }

  private Exchange meet(RequestContent given) {
    ClientConnection here = connection();
    met = true;
    if (exchange == null) {
      exchange =
          new Exchange(shared.loop(), here.client(), here.local(), parser.head(), given, this);
    } else {
      exchange.reuse(here.client(), here.local(), parser.head(), given, this);
    }
    return exchange;
  }

  /** Looks at the fields that concern this connection; says what is wrong with them. */
  private @Nullable Failure special(RequestHead head) {
    Fields fields = head.fields();
    persistent =
        !ConnectionFields.names(fields, "close")
            && (persistent || ConnectionFields.names(fields, "keep-alive"));
    long framing = MessageFraming.of(head);
    if (framing > shared.settings().maxContentBytes()) {
      return Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit");
    }
    if (fields.has(FieldName.EXPECT) && head.minorVersion() == 1) {
      if (!"100-continue".equalsIgnoreCase(fields.joined(FieldName.EXPECT))) {
        return Failure.request(
            StatusCode.EXPECTATION_FAILED, "an expectation other than 100-continue");
      }
      awaitsContinue = framing != 0;
    }
    if (framing != 0 || fields.has(FieldName.UPGRADE)) {
      content = new ClientContent(this, framing);
    }
    return null;
  }

  /** Answers a request that goes no further; the connection ends with it. */
  void refuse(Failure failure) {
    persistent = false;
    meet(RequestContent.NONE);
    fail(failure);
  }

  boolean wantsContent() {
    return content != null && content.isWanted();
  }

  /** Whether the client sends its content slower than it must. */
  boolean isUploadTooSlow() {
    return content != null && content.isTooSlow(shared.nowNanos(), shared.settings());
  }

  void contentArrived(ByteBuf in) {
    awaitsContinue = false;
    connection().progress();
    if (content != null) {
      content.arrived(in);
      if (isOver()) {
        connection().exchangeEnded(this);
      }
    }
  }

  /** The content is malformed, late or cut short: the connection ends, everyone concerned hears. */
  void breakOff(Failure why) {
    persistent = false;
    failAndTell(why);
    if (isOver()) {
      connection().exchangeEnded(this);
    }
  }

  /** Fails for a reason that the stations do not know of. */
  private void failAndTell(Failure why) {
    ContentSource asked = releaseSource();
    ContentSink taker = content == null ? null : content.dismiss();
    fail(why);
    if (asked != null) {
      asked.cancel(why);
    }
    if (taker != null) {
      taker.abort(why);
    }
  }

  /** The source, if it still has something to be told: it is told once. */
  private @Nullable ContentSource releaseSource() {
    ContentSource asked = state == State.ENDED ? null : source;
    source = null;
    return asked;
  }

  /** Whether the protocols were switched. */
  boolean isTunnel() {
    return tunnel;
  }

  boolean isTunnelStarted() {
    return content != null && content.isTunnelStarted();
  }

  void tunnelArrived(ByteBuf in) {
    if (content == null) {
      in.release();
    } else {
      content.tunnelArrived(in);
    }
  }

  void tunnelInputClosed() {
    if (content != null) {
      content.endTunnel();
      finishTunnel();
    }
  }

  /** The client went away, whatever we were about to say. */
  void clientGone(Failure why) {
    if (gone) {
      return;
    }
    gone = true;
    ContentSource asked = releaseSource();
    if (asked != null) {
      asked.cancel(why);
    }
    if (content != null) {
      content.breakOff(why);
    }
    if (state != State.ENDED || tunnel) {
      notes(why);
      observe();
    }
    state = State.ENDED;
  }

  void pauseSource() {
    if (source != null && state != State.ENDED) {
      source.pause();
    }
  }

  void resumeSource() {
    if (source != null && state != State.ENDED) {
      source.resume();
    }
  }

  /** Whether the answer is out and nothing of the request is left to read, or to matter. */
  boolean isOver() {
    return state == State.ENDED && (content == null || content.isOver(persistent));
  }

  /**
   * Whether nobody can still hold on to this exchange: it was answered from the store in one go,
   * before the handler returned.
   */
  boolean isReusable() {
    return reusable && content == null;
  }

  boolean endsConnection() {
    return !persistent;
  }

  // The content's side

  /** Monotonic nanoseconds, looked up just now. */
  long now() {
    shared.time().look();
    return shared.nowNanos();
  }

  boolean awaitsContinue() {
    return awaitsContinue;
  }

  /** Asks the client for its content, if it waits to be asked (RFC 9110 §10.1.1). */
  void sendContinue() {
    if (awaitsContinue && state == State.WAITING && !gone) {
      awaitsContinue = false;
      connection().write(Unpooled.wrappedBuffer(CONTINUE));
    }
  }

  void wantContent() {
    if (isUnderWay()) {
      connection().progress();
      connection().processWaiting();
    }
  }

  void readMore(boolean wanted) {
    if (isUnderWay()) {
      connection().readMore(wanted);
    }
  }

  /** Who took the content wants no more of it. */
  void contentCancelled() {
    persistent = persistent && content != null && content.mayBeDropped();
    if (isOver()) {
      connection().exchangeEnded(this);
    } else {
      wantContent();
    }
  }

  /** Whether the connection is still ours: a station may speak of us long after. */
  boolean isUnderWay() {
    return !gone && connection().isAt(this);
  }

  /** A sink that refuses more than one request may carry, if there is such a limit. */
  ContentSink limited(ContentSink sink) {
    long limit = shared.settings().maxContentBytes();
    return limit == Long.MAX_VALUE ? sink : new LimitedSink(sink, limit);
  }

  // The stations' side: Reply

  @Override
  public void open(ContentSource source) {
    this.source = source;
    if (isEnded()) {
      source.cancel(Failure.of(Kind.CLIENT_GONE, "the exchange is over"));
    } else if (!connection().isWritable()) {
      source.pause();
    }
  }

  @Override
  public void interim(ResponseHead head) {
    boolean wanted = head.status() != StatusCode.CONTINUE || awaitsContinue;
    if (gone || state != State.WAITING || parser.head().minorVersion() == 0 || !wanted) {
      return;
    }
    awaitsContinue = awaitsContinue && head.status() != StatusCode.CONTINUE;
    HeadWriter out = shard.writer;
    out.statusLine(head.status());
    lines(out, head.fields());
    out.newLine();
    connection().write(out.toBuffer(connection().channel().alloc()));
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    if (gone || state != State.WAITING) {
      return;
    }
    if (head.status() == StatusCode.SWITCHING_PROTOCOLS && !maySwitch()) {
      failAndTell(Failure.of(Kind.HTTP_PROTOCOL_ERROR, "a switch of protocols nobody asked for"));
      return;
    }
    state = State.BEGUN;
    status = head.status();
    tunnel = status == StatusCode.SWITCHING_PROTOCOLS;
    withoutContent =
        !tunnel && (parser.head().method() == Method.HEAD || StatusCode.hasNoContent(status));
    expectedBytes = withoutContent ? 0 : contentLength;
    boolean unknown = contentLength < 0 && !withoutContent && !tunnel;
    chunked = unknown && parser.head().minorVersion() == 1;
    closeDelimited = unknown && !chunked;
    settlePersistence();
    HeadWriter out = shard.writer;
    out.statusLine(status);
    lines(out, head.fields());
    if (!head.has(FieldName.DATE) && !tunnel) {
      out.line(FieldName.DATE, HttpDate.format(shared.epochSeconds()));
    }
    if (chunked) {
      out.octets(CHUNKED);
    } else if (contentLength >= 0 && status != StatusCode.NO_CONTENT && !tunnel) {
      out.line(FieldName.CONTENT_LENGTH, contentLength);
    }
    connectionLine(out);
    out.newLine();
    connection().write(out.toBuffer(connection().channel().alloc()));
    if (tunnel) {
      connection().becomeTunnel();
    }
  }

  /** Whether the client may be talked to in another protocol from now on (RFC 9110 §7.8). */
  private boolean maySwitch() {
    RequestHead head = parser.head();
    return head.minorVersion() == 1
        && head.fields().has(FieldName.UPGRADE)
        && content != null
        && content.isComplete();
  }

  private static void lines(HeadWriter out, Fields fields) {
    for (int i = 0; i < fields.size(); i++) {
      FieldName name = fields.knownAt(i);
      if (name != FieldName.CONTENT_LENGTH && name != FieldName.TRANSFER_ENCODING) {
        out.line(fields, i);
      }
    }
  }

  private void connectionLine(HeadWriter out) {
    if (tunnel) {
      out.octets(UPGRADE);
    } else if (!persistent) {
      out.octets(CLOSE);
    } else if (parser.head().minorVersion() == 0) {
      out.octets(KEEP_ALIVE);
    }
  }

  /** Decides, at the head, whether the connection goes on behind this answer. */
  private void settlePersistence() {
    persistent = persistent && !closeDelimited && !tunnel && !connection().mustClose();
    if (persistent && content != null && !content.isComplete() && !content.isWanted()) {
      persistent = content.mayBeDropped();
    }
  }

  @Override
  public void write(ByteBuf chunk) {
    if (gone || state != State.BEGUN || (withoutContent && !tunnel)) {
      chunk.release();
      return;
    }
    sentBytes += chunk.readableBytes();
    if (expectedBytes >= 0 && sentBytes > expectedBytes && !tunnel) {
      chunk.release();
      failAndTell(Failure.of(Kind.HTTP_PROTOCOL_ERROR, "more content than its length says"));
      return;
    }
    Channel channel = connection().channel();
    if (chunked) {
      ChunkedEncoder.write(channel, chunk);
    } else {
      channel.write(chunk, channel.voidPromise());
    }
    connection().flushSoon();
    if (tunnel) {
      connection().progress();
    }
  }

  @Override
  public boolean takesRegions() {
    return !gone && !chunked && !tunnel && connection().takesRegions();
  }

  @Override
  public void write(FileRegion region) {
    if (gone || state != State.BEGUN || withoutContent) {
      region.release();
      return;
    }
    if (!takesRegions()) {
      Reply.super.write(region);
    }
    sentBytes += region.count();
    if (expectedBytes >= 0 && sentBytes > expectedBytes) {
      region.release();
      failAndTell(Failure.of(Kind.HTTP_PROTOCOL_ERROR, "more content than its length says"));
      return;
    }
    connection().write(region);
  }

  /** Takes back what was counted as sent and was not, before the client went away. */
  void notSent(long bytes) {
    sentBytes -= bytes;
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (gone || state != State.BEGUN) {
      return;
    }
    if (tunnel) {
      endTunnelOutput();
      return;
    }
    if (chunked) {
      ChunkedEncoder.end(connection().channel(), trailers);
      connection().flushSoon();
    } else if (expectedBytes >= 0 && sentBytes != expectedBytes) {
      source = null;
      failAndTell(Failure.of(Kind.HTTP_RESPONSE_INCOMPLETE, "less content than its length says"));
      return;
    }
    finish();
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
    notes(why);
    persistent = false;
    dismissContent();
    Channel channel = connection().channel();
    if ((closeDelimited || tunnel) && channel.isOpen()) {
      // Only a reset tells this client from a clean end.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> channel.close());
    finish();
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    if (!beginStored(status, ownLines, ownLength, linesAndContent)) {
      return;
    }
    sentBytes = contentLength;
    reusable = true;
    finish();
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    if (beginStored(status, ownLines, ownLength, lines)) {
      expectedBytes = contentLength;
    }
  }

  /** Writes our part of the head and the stored part behind it: one gathering write. */
  private boolean beginStored(int status, byte[] ownLines, int ownLength, ByteBuf rest) {
    if (gone || state != State.WAITING) {
      rest.release();
      return false;
    }
    state = State.BEGUN;
    this.status = status;
    withoutContent = false;
    settlePersistence();
    HeadWriter out = shard.writer;
    out.statusLine(status);
    out.octets(ownLines, 0, ownLength);
    connectionLine(out);
    Channel channel = connection().channel();
    channel.write(out.toBuffer(channel.alloc()), channel.voidPromise());
    channel.write(rest, channel.voidPromise());
    connection().flushSoon();
    return true;
  }

  @Override
  public void fail(Failure failure) {
    if (gone || state == State.ENDED) {
      return;
    }
    if (state == State.BEGUN) {
      abort(failure);
      return;
    }
    notes(failure);
    dismissContent();
    if (failure.equals(Overload.SHED)) {
      shed();
      return;
    }
    String text = failure.status() + " " + StatusCode.reason(failure.status());
    byte[] octets =
        (text + "\n" + failure.publicReason() + "\n").getBytes(StandardCharsets.ISO_8859_1);
    ResponseHead head =
        ResponseHead.of(
            failure.status(),
            "Content-Type",
            "text/plain; charset=iso-8859-1",
            "Cache-Control",
            "no-store",
            "Proxy-Status",
            failure.proxyStatus(shared.name()));
    if (failure.status() == StatusCode.METHOD_NOT_ALLOWED) {
      head.fields().add(FieldName.ALLOW, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    }
    if (failure.retryAfterSeconds() > 0) {
      head.fields().add(FieldName.RETRY_AFTER, Integer.toString(failure.retryAfterSeconds()));
    }
    String cacheStatus = cacheStatus();
    if (!cacheStatus.isEmpty()) {
      head.fields().add(FieldName.CACHE_STATUS, cacheStatus);
    }
    head(head, octets.length);
    write(Unpooled.wrappedBuffer(octets));
    end(null);
  }

  /** The answer to a request that is shed: octets made beforehand, for this must cost little. */
  private void shed() {
    state = State.BEGUN;
    status = Overload.SHED.status();
    settlePersistence();
    int retryAfter = shared.shedder().retryAfterSeconds();
    if (persistent) {
      connection().holdBack(shared.shedder().holdNanos(retryAfter));
    }
    HeadWriter out = shard.writer;
    out.statusLine(status);
    out.octets(shard.shedLines(retryAfter));
    connectionLine(out);
    out.newLine();
    connection().write(out.toBuffer(connection().channel().alloc()));
    finish();
  }

  /** What the cache noted, or that no cache was asked because no route took the request. */
  private String cacheStatus() {
    if (exchange == null || !met) {
      return "";
    }
    ExchangeNotes notes = exchange.notes();
    return notes.cacheStatus().isEmpty() && notes.route().isEmpty()
        ? shared.settings().refusedCacheStatus()
        : notes.cacheStatus();
  }

  /** Who fails an exchange wants nothing more of its content. */
  private void dismissContent() {
    if (content != null && !content.isComplete()) {
      content.dismiss();
      persistent = persistent && content.mayBeDropped();
    }
  }

  @Override
  public boolean isBegun() {
    return state != State.WAITING;
  }

  @Override
  public boolean isEnded() {
    return state == State.ENDED || gone;
  }

  // The end

  private void notes(Failure failure) {
    if (exchange != null && met) {
      exchange.notes().failure(failure);
    }
  }

  private void finish() {
    state = State.ENDED;
    source = null;
    observe();
    if (persistent && content != null && !content.isComplete() && !content.isTaken()) {
      content.drop();
    }
    if (isOver()) {
      connection().exchangeEnded(this);
    }
  }

  /** Tells the observer, once, if a request was there to tell of. */
  private void observe() {
    if (exchange != null && met) {
      met = false;
      shared.observer().ended(exchange, status, sentBytes, startNanos, shared.time().exactNanos());
    }
  }

  private void endTunnelOutput() {
    state = State.ENDED;
    Channel channel = connection().channel();
    channel
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(written -> ((DuplexChannel) channel).shutdownOutput());
    finishTunnel();
  }

  /** Ends the exchange once both ways of the tunnel are closed. */
  void finishTunnel() {
    if (tunnel && state == State.ENDED && content != null && !content.isTunnelOpen()) {
      finish();
    }
  }

  private ClientConnection connection() {
    if (connection == null) {
      throw new IllegalStateException("connection: the exchange has none");
    }
    return connection;
  }

  /** Counts what a client sends and breaks off what is too much. */
  private final class LimitedSink implements ContentSink {

    private final ContentSink sink;
    private long left;

    LimitedSink(ContentSink sink, long left) {
      this.sink = sink;
      this.left = left;
    }

    @Override
    public void write(ByteBuf chunk) {
      left -= chunk.readableBytes();
      if (left < 0) {
        chunk.release();
        if (!gone) {
          breakOff(Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit"));
        }
        return;
      }
      sink.write(chunk);
    }

    @Override
    public void end(@Nullable Fields trailers) {
      if (left >= 0) {
        sink.end(trailers);
      }
    }

    @Override
    public void abort(Failure why) {
      sink.abort(why);
    }
  }
}
