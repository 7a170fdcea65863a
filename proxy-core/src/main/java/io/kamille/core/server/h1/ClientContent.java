package io.kamille.core.server.h1;

import io.kamille.core.content.ContentSink;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.h1.ContentDecoder;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.http.Fields;
import io.kamille.core.http.StatusCode;
import io.kamille.core.server.connection.ClientSettings;
import io.kamille.core.server.connection.LeastRate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * The content of one request on its way in, and after an upgrade whatever the client sends.
 * Confined to its loop.
 */
final class ClientContent implements RequestContent {

  /** Unwanted content up to this length is read and dropped to keep the connection. */
  private static final long DRAIN_BYTES = 64 * 1024;

  private final ClientExchange exchange;
  private final long length;
  private final ContentDecoder decoder;
  private final ContentSink taking = new Taking();
  private @Nullable ContentSink sink;
  private @Nullable ContentSink tunnel;
  private @Nullable LeastRate rate;
  private long octets;
  private boolean dropping;
  private boolean tunnelEnded;

  /** The content of {@code exchange}, as {@link MessageFraming} found it. */
  ClientContent(ClientExchange exchange, long framing) {
    this.exchange = exchange;
    this.length = framing == MessageFraming.CHUNKED ? UNKNOWN_LENGTH : framing;
    this.decoder = ContentDecoder.of(framing);
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public void start(ContentSink sink) {
    if (this.sink != null) {
      throw new IllegalStateException("start: the content of a request is delivered once");
    }
    if (dropping) {
      sink.abort(Failure.of(Kind.CLIENT_GONE, "the request content came to an early end"));
      return;
    }
    this.sink = exchange.limited(sink);
    if (length == 0) {
      decoder.decode(Unpooled.EMPTY_BUFFER, taking);
      return;
    }
    clientMaySend();
    exchange.sendContinue();
    exchange.wantContent();
  }

  @Override
  public void tunnel(ContentSink sink) {
    if (tunnelEnded || !exchange.isTunnel()) {
      sink.abort(Failure.of(Kind.CLIENT_GONE, "there is no tunnel"));
      return;
    }
    tunnel = sink;
    exchange.wantContent();
  }

  @Override
  public void pause() {
    if (rate != null) {
      rate.hold(exchange.now());
    }
    exchange.readMore(false);
  }

  @Override
  public void resume() {
    if (rate != null) {
      rate.release(exchange.now());
    }
    exchange.readMore(true);
  }

  @Override
  public void cancel(Failure why) {
    if (isTunnelOpen()) {
      tunnelEnded = true;
      exchange.finishTunnel();
    } else if (!isComplete() && !dropping) {
      dismiss();
      clientMaySend();
      exchange.contentCancelled();
    }
  }

  /** Whether all of it came in. */
  boolean isComplete() {
    return length == 0 || decoder.isComplete();
  }

  /** Whether somebody waits for octets, be it to drop them. */
  boolean isWanted() {
    return (sink != null || dropping) && !isComplete();
  }

  /** Whether the client sends slower than it must. */
  boolean isTooSlow(long nowNanos, ClientSettings settings) {
    return isWanted()
        && rate != null
        && rate.isTooSlow(
            nowNanos, octets, settings.uploadGrace().toNanos(), settings.uploadBytesPerSecond());
  }

  /** Whether a station still takes it. */
  boolean isTaken() {
    return sink != null && !isComplete();
  }

  /** Whether the connection may go on without it: all came, or nobody takes the rest. */
  boolean isOver(boolean persistent) {
    return !isTunnelOpen() && (isComplete() || (!persistent && sink == null));
  }

  boolean isTunnelStarted() {
    return tunnel != null || tunnelEnded;
  }

  boolean isTunnelOpen() {
    return tunnel != null && !tunnelEnded;
  }

  /** Whether dropping the rest is cheaper than a new connection. */
  boolean mayBeDropped() {
    return length != UNKNOWN_LENGTH && length <= DRAIN_BYTES && !exchange.awaitsContinue();
  }

  /** Nobody takes the rest: read and drop it. */
  void drop() {
    dismiss();
    clientMaySend();
    exchange.wantContent();
  }

  private void clientMaySend() {
    long now = exchange.now();
    if (rate == null) {
      rate = new LeastRate(now, octets);
    } else {
      rate.release(now);
    }
  }

  /** Gives nothing more to who took it, and says who that was if not all had come. */
  @Nullable ContentSink dismiss() {
    ContentSink taker = isComplete() ? null : sink;
    sink = null;
    dropping = true;
    return taker;
  }

  /** Takes octets off the wire. Borrows the buffer. */
  void arrived(ByteBuf in) {
    octets += in.readableBytes();
    if (decoder.decode(in, taking) == ContentDecoder.Outcome.MALFORMED) {
      in.skipBytes(in.readableBytes());
      exchange.breakOff(Failure.request(StatusCode.BAD_REQUEST, decoder.failure().reason()));
    }
  }

  /** Takes octets of another protocol. Takes ownership. */
  void tunnelArrived(ByteBuf in) {
    if (tunnel == null || tunnelEnded) {
      in.release();
    } else {
      tunnel.write(in);
    }
  }

  void endTunnel() {
    ContentSink open = closeTunnel();
    if (open != null) {
      open.end(null);
    }
  }

  /** The rest will not come. */
  void breakOff(Failure why) {
    ContentSink taker = dismiss();
    if (taker != null) {
      taker.abort(why);
    }
    ContentSink open = closeTunnel();
    if (open != null) {
      open.abort(why);
    }
  }

  private @Nullable ContentSink closeTunnel() {
    boolean wasOpen = isTunnelOpen();
    tunnelEnded = true;
    return wasOpen ? tunnel : null;
  }

  /** Whoever takes the content at the moment: that may change between two chunks of one read. */
  private final class Taking implements ContentSink {

    @Override
    public void write(ByteBuf chunk) {
      ContentSink taker = sink;
      if (taker == null) {
        chunk.release();
      } else {
        taker.write(chunk);
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      ContentSink taker = sink;
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
