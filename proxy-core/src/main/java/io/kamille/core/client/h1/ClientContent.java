package io.kamille.core.client.h1;

import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.LeastRate;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.ContentDecoder;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.http.Fields;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** The content of one request on its way in. Confined to its loop. */
final class ClientContent implements RequestContent {

  /** The exchange that content belongs to. */
  interface Owner {

    /** Monotonic nanoseconds, looked up just now. */
    long now();

    /** Whether the client waits to be asked for its content. */
    boolean awaitsContinue();

    /** Asks it, if it does and no answer has begun. */
    void sendContinue();

    /** Somebody wants content, be it to drop it. */
    void wantContent();

    /** Whether the client may send more now. */
    void readMore(boolean wanted);

    /** A sink that refuses more than one request may carry, if there is such a limit. */
    ContentSink limited(ContentSink sink);

    /** Who took the content wants no more of it. */
    void contentCancelled();

    /** The content is malformed. */
    void breakOff(Failure why);

    /** Octets of another protocol go here from now on; false if there is no tunnel. */
    boolean startTunnel(ContentSink sink);

    /** Nobody wants to hear the client any more; false if there is no tunnel. */
    boolean cancelTunnel();
  }

  /** Unwanted content up to this length is read and dropped to keep the connection. */
  private static final long DRAIN_BYTES = 64 * 1024;

  private final Owner owner;
  private final long length;
  private final ContentDecoder decoder;
  private final ContentSink taking = new Taking();
  private @Nullable ContentSink sink;
  private @Nullable LeastRate rate;
  private long octets;
  private boolean dropping;

  /** The content of the exchange {@code owner}, as {@link MessageFraming} found it. */
  ClientContent(Owner owner, long framing) {
    this.owner = owner;
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
    this.sink = owner.limited(sink);
    if (length == 0) {
      decoder.decode(Unpooled.EMPTY_BUFFER, taking);
      return;
    }
    clientMaySend();
    owner.sendContinue();
    owner.wantContent();
  }

  @Override
  public void tunnel(ContentSink sink) {
    if (owner.startTunnel(sink)) {
      owner.wantContent();
    } else {
      sink.abort(Failure.of(Kind.CLIENT_GONE, "there is no tunnel"));
    }
  }

  @Override
  public void pause() {
    if (rate != null) {
      rate.hold(owner.now());
    }
    owner.readMore(false);
  }

  @Override
  public void resume() {
    if (rate != null) {
      rate.release(owner.now());
    }
    owner.readMore(true);
  }

  @Override
  public void cancel(Failure why) {
    if (!owner.cancelTunnel() && !isComplete() && !dropping) {
      dismiss();
      clientMaySend();
      owner.contentCancelled();
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
    return isComplete() || (!persistent && sink == null);
  }

  /** Whether dropping the rest is cheaper than a new connection. */
  boolean mayBeDropped() {
    return length != UNKNOWN_LENGTH && length <= DRAIN_BYTES && !owner.awaitsContinue();
  }

  /** Nobody takes the rest: read and drop it. */
  void drop() {
    dismiss();
    clientMaySend();
    owner.wantContent();
  }

  private void clientMaySend() {
    long now = owner.now();
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
      owner.breakOff(Failure.request(StatusCode.BAD_REQUEST, decoder.failure().reason()));
    }
  }

  /** The rest will not come. */
  void breakOff(Failure why) {
    ContentSink taker = dismiss();
    if (taker != null) {
      taker.abort(why);
    }
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
