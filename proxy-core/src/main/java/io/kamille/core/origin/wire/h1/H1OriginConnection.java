package io.kamille.core.origin.wire.h1;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.ChunkedEncoder;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.ContentDecoder;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.h1.ResponseParser;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.wire.OriginExchange;
import io.kamille.core.origin.wire.OriginOutput;
import io.kamille.core.origin.wire.OriginProgress;
import io.kamille.core.origin.wire.OriginSocket;
import io.kamille.core.origin.wire.OriginTrouble;
import io.kamille.core.origin.wire.RequestConnection;
import io.kamille.core.origin.wire.RequestHeadWriter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.handler.codec.http2.Http2Error;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection to an origin in HTTP/1.1: a request out, its response in, and again (RFC 9112).
 * Confined to its loop.
 */
public final class H1OriginConnection extends RequestConnection
    implements OriginExchange.Framing, OriginSocket.Owner {

  /*
   * Which octets belong to which response must never go wrong here. So a connection carries one
   * request at a time, and is lent again only when the response had a definite end, the request was
   * sent whole, and the burst of reads that brought the end brought nothing behind it and found the
   * socket empty. Whatever comes unasked closes the connection. So does a request with content that
   * the origin may well have ignored: it would read it as the next request.
   *
   * A failure to write is no failure yet: the answer may lie in our receive buffer already.
   */
  private final String origin;
  private final BooleanSupplier isCurrent;
  private final ConnectionPool<RequestConnection> pool;
  private final ProxyAnnouncement announcement;
  private final RequestHeadWriter headWriter;
  private final OriginTrouble trouble;
  private final OriginExchange exchange;
  private final OriginSocket socket;
  private final ResponseParser parser;
  private final ContentSink relay = new Relay();
  private @Nullable ContentDecoder decoder;
  private @Nullable RequestContent content;
  private @Nullable Tunnel tunnel;
  private Method method = Method.GET;
  private List<String> wanted = List.of();
  private boolean isLent;
  private boolean isFresh = true;
  private boolean isReusable;
  private boolean isClosed;

  /**
   * A connection still to be opened: its {@link #handler} goes into the pipeline of a channel on
   * the pool's loop.
   *
   * @param origin its name, for reasons and for requests that name no host
   * @param isCurrent whether the origin still has the address that this connection leads to
   */
  public H1OriginConnection(
      String origin,
      BooleanSupplier isCurrent,
      ConnectionPool<RequestConnection> pool,
      ConnectionSettings settings,
      RequestHeadWriter headWriter) {
    this.origin = origin;
    this.isCurrent = isCurrent;
    this.pool = pool;
    this.announcement = settings.proxyProtocol();
    this.headWriter = headWriter;
    this.trouble = new OriginTrouble(origin);
    this.exchange = new OriginExchange(this, origin, headWriter.removed(), settings);
    this.socket = new OriginSocket(this, exchange::moved);
    this.parser = new ResponseParser(HeadLimits.RESPONSE);
  }

  /** What connects this to its channel; once. */
  public ChannelHandler handler() {
    return socket;
  }

  @Override
  public boolean isFresh() {
    return isFresh;
  }

  // The request

  @Override
  public OriginExchange exchange() {
    return exchange;
  }

  @Override
  public void sendHead(Exchange asked, RequestContent content, boolean expects) {
    isLent = true;
    this.content = content;
    method = asked.request().method();
    wanted = headWriter.wantedProtocols(asked.request());
    decoder = null;
    parser.reset(method);
    trouble.forget();
    OriginOutput out = socket.output();
    boolean isOfOneClient = announcement != ProxyAnnouncement.OFF;
    if (isOfOneClient) {
      out.write(announcement.of(asked, out.channel().alloc()));
    }
    boolean upgrades = !wanted.isEmpty();
    ByteBuf head =
        headWriter.write(asked, content.length(), origin, expects, upgrades, out.channel().alloc());
    if (content.length() == 0) {
      isReusable = !isOfOneClient;
      out.writeAndFlush(head);
    } else {
      isReusable = !isOfOneClient && expectsContent(method);
      out.write(head);
      out.flushSoon();
    }
  }

  /** Content of the others means nothing, and may be left unread (RFC 9110 §9.3.1, .2, .5). */
  private static boolean expectsContent(Method method) {
    return method != Method.GET && method != Method.HEAD && method != Method.DELETE;
  }

  private boolean isChunked() {
    return content != null && content.length() == RequestContent.UNKNOWN_LENGTH;
  }

  @Override
  public void sendContent(ByteBuf chunk) {
    if (isChunked()) {
      ChunkedEncoder.write(socket.output().channel(), chunk);
    } else {
      socket.output().write(chunk);
    }
    socket.output().queued();
    if (!socket.output().isWritable()) {
      exchange.pauseUpload();
    }
  }

  @Override
  public void endContent(@Nullable Fields trailers) {
    if (isChunked()) {
      ChunkedEncoder.end(socket.output().channel(), trailers);
    }
    socket.output().queued();
  }

  @Override
  public void stopContent() {
    isReusable = false;
  }

  @Override
  public boolean takesMore() {
    return socket.output().isWritable();
  }

  /** What is queued is the socket's. */
  @Override
  public boolean hasSentAll() {
    return true;
  }

  @Override
  public void writable() {
    exchange.resumeUpload();
    if (tunnel != null) {
      tunnel.resume();
    }
  }

  // The response

  @Override
  public void read(ByteBuf in) {
    while (in.isReadable() && !isClosed) {
      if (exchange.awaitsHead()) {
        readHead(in);
      } else if (exchange.awaitsContent()) {
        readContent(in);
      } else if (exchange.isTunnel()) {
        exchange.content(in.readRetainedSlice(in.readableBytes()));
      } else if (isLent) {
        isReusable = false;
        return;
      } else {
        close();
      }
    }
  }

  private void readHead(ByteBuf in) {
    switch (parser.parse(in)) {
      case NEED_MORE -> {}
      case MALFORMED -> malformed(parser.failure());
      case COMPLETE -> headCame(parser.head(), in);
    }
  }

  private void headCame(ResponseHead head, ByteBuf in) {
    if (ConnectionFields.isExcessive(head.fields())) {
      exchange.refuse(ErrorType.HTTP_PROTOCOL_ERROR, "sent a Connection field that names too much");
    } else if (head.isInterim()) {
      ConnectionFields.remove(head.fields());
      head.fields().remove(FieldName.CONTENT_LENGTH);
      exchange.interim(head);
      parser.reset();
    } else if (head.status() == StatusCode.SWITCHING_PROTOCOLS) {
      switchProtocols(head);
    } else if (exchange.accepts(head)) {
      begin(head, in);
    }
  }

  private void begin(ResponseHead head, ByteBuf in) {
    long framing = MessageFraming.of(head, method);
    long length =
        head.status() == StatusCode.NO_CONTENT ? 0 : Math.max(MessageFraming.declared(head), -1);
    isReusable &= framing != MessageFraming.UNTIL_CLOSE && isPersistent(head);
    ConnectionFields.remove(head.fields());
    head.fields().remove(FieldName.CONTENT_LENGTH);
    boolean isWhole = framing >= 0 && framing <= in.readableBytes();
    boolean isTaken = exchange.head(head, length, isWhole && framing == length ? in : null);
    if (!exchange.awaitsContent()) {
      return;
    }
    if (!isWhole) {
      decoder = ContentDecoder.of(framing);
      return;
    }
    // All content came with the head, as it does for most small responses: nothing to decode.
    if (!isTaken && framing > 0) {
      relay.write(in.readRetainedSlice((int) framing));
    }
    relay.end(null);
  }

  private static boolean isPersistent(ResponseHead head) {
    Fields fields = head.fields();
    return head.minorVersion() == 1
        ? !ConnectionFields.names(fields, "close")
        : ConnectionFields.names(fields, "keep-alive");
  }

  private void readContent(ByteBuf in) {
    ContentDecoder present = decoder;
    if (present == null) {
      throw new IllegalStateException("content before its head");
    }
    if (present.decode(in, relay) == ContentDecoder.Outcome.MALFORMED && exchange.awaitsContent()) {
      malformed(present.failure());
    }
  }

  private void malformed(Failure why) {
    exchange.refuse(why.kind(), "sent " + why.reason());
  }

  @Override
  public boolean isHeadBegun() {
    return parser.isBegun();
  }

  @Override
  public void completed() {}

  @Override
  public void burstEnds() {
    if (!isLent || isClosed || exchange.isActive()) {
      return;
    }
    if (!isReusable || socket.mayHoldMore()) {
      close();
      return;
    }
    isLent = false;
    isFresh = false;
    content = null;
    socket.resume();
    pool.release(this);
  }

  @Override
  public void pauseResponse() {
    socket.pause();
  }

  @Override
  public void resumeResponse() {
    socket.resume();
  }

  // Another protocol

  private void switchProtocols(ResponseHead head) {
    RequestContent client = content;
    if (wanted.isEmpty() || client == null || exchange.isUploading()) {
      exchange.refuse(ErrorType.HTTP_PROTOCOL_ERROR, "switched protocols without being asked");
      return;
    }
    if (!wanted.containsAll(RequestHeadWriter.protocols(head.fields()))) {
      exchange.refuse(ErrorType.HTTP_PROTOCOL_ERROR, "switched to a protocol nobody asked for");
      return;
    }
    String protocol = head.fields().joined(FieldName.UPGRADE);
    ConnectionFields.remove(head.fields());
    head.fields().remove(FieldName.CONTENT_LENGTH);
    if (protocol != null) {
      head.fields().add(FieldName.UPGRADE, protocol);
    }
    socket.allowHalfClosure();
    exchange.switched(head);
    if (exchange.isTunnel()) {
      tunnel = new Tunnel(socket.output(), client, this::tunnelIsOver);
      tunnel.open();
    }
  }

  @Override
  public void inputClosed() {
    if (!exchange.isTunnel()) {
      close();
      return;
    }
    exchange.tunnelEnded();
    if (tunnel != null) {
      tunnel.originEnded();
    }
  }

  /** Both sides have said all they had to say, or one of them is gone. */
  private void tunnelIsOver() {
    exchange.closeTunnel(
        trouble.isNone()
            ? null
            : trouble.closed(ErrorType.CONNECTION_TERMINATED, " within the tunnel"));
  }

  // The end

  @Override
  public void caught(Throwable cause) {
    trouble.caught(cause);
    isReusable = false;
    if (trouble.isOurs() || exchange.isTunnel()) {
      socket.channel().close();
    } else {
      exchange.stopUpload();
    }
  }

  @Override
  public void inactive() {
    if (trouble.isOurs() && exchange.isActive()) {
      exchange.fail(Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "a fault in the proxy"));
    } else if (exchange.awaitsHead()) {
      String where = isHeadBegun() ? " within" : " before";
      exchange.fail(trouble.closed(ErrorType.CONNECTION_TERMINATED, where + " the response head"));
    } else if (exchange.awaitsContent()) {
      if (isEndedByClose()) {
        relay.end(null);
        close();
      } else {
        exchange.fail(
            trouble.closed(ErrorType.HTTP_RESPONSE_INCOMPLETE, " within the response content"));
      }
    } else if (exchange.isTunnel()) {
      tunnelIsOver();
    } else {
      close();
    }
  }

  private boolean isEndedByClose() {
    return decoder != null
        && decoder.endsWithConnection()
        && trouble.isNone()
        && socket.isEndGenuine();
  }

  @Override
  public void abandon(Http2Error code) {
    if (tunnel != null) {
      tunnel.stop(trouble.closed(ErrorType.CONNECTION_TERMINATED, ""));
    }
    close();
  }

  @Override
  public boolean isCounted(OriginProgress progress) {
    return true;
  }

  @Override
  protected void close() {
    if (!isClosed) {
      isClosed = true;
      pool.forget(this);
      socket.channel().close();
    }
  }

  // For the pool

  @Override
  protected boolean isOpen() {
    return socket.isOpen();
  }

  @Override
  protected boolean isCurrent() {
    return isCurrent.getAsBoolean();
  }

  @Override
  protected void tick(long nowNanos) {
    exchange.tick(nowNanos);
  }

  /** Passes content on, unless the client went away in the middle of a burst. */
  private final class Relay implements ContentSink {

    @Override
    public void write(ByteBuf chunk) {
      if (exchange.awaitsContent()) {
        exchange.content(chunk);
      } else {
        chunk.release();
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      if (exchange.awaitsContent()) {
        exchange.complete(trailers);
      }
    }

    @Override
    public void abort(Failure why) {
      throw new IllegalStateException("a decoder does not abort: " + why);
    }
  }
}
