package io.kamille.core.client;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The content of one request on its way in, whatever the version of HTTP: who takes it, and whether
 * the client sends it fast enough. Confined to its loop.
 */
public abstract class ClientContent implements RequestContent {

  /** The exchange that content belongs to. */
  public interface Owner {

    ClientSettings settings();

    /** The most bytes of content that the request may have by now. */
    long contentLimit();

    /** Monotonic nanoseconds, looked up just now. */
    long now();

    /** Asks the client for its content, if it waits to be asked (RFC 9110 §10.1.1). */
    void sendContinue();

    /** More content came than one request may carry. */
    void contentIsTooLarge();
  }

  private final Owner owner;
  private final long length;
  private @Nullable ContentSink sink;
  private @Nullable LeastRate rate;
  private long octets;
  private boolean isDropped;

  /** Content of that length, or {@link #UNKNOWN_LENGTH}. */
  protected ClientContent(Owner owner, long length) {
    this.owner = owner;
    this.length = length;
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
    if (isDropped) {
      sink.abort(Failure.of(ErrorType.CLIENT_GONE, "the request content came to an early end"));
      return;
    }
    long limit = owner.contentLimit();
    take(limit == Long.MAX_VALUE ? sink : new LimitedSink(sink, limit, owner::contentIsTooLarge));
    clientMaySend();
    owner.sendContinue();
    started();
  }

  /** Somebody takes the content from now on, and what came of it already. */
  protected abstract void started();

  /** What comes goes here. */
  protected final void take(ContentSink sink) {
    this.sink = sink;
  }

  /** Who takes the content; null if nobody does. */
  protected final @Nullable ContentSink sink() {
    return sink;
  }

  /** Whether nobody takes the rest. */
  protected final boolean isDropped() {
    return isDropped;
  }

  /** So many octets came. */
  protected final void came(int bytes) {
    octets += bytes;
  }

  /** Octets that have come so far. */
  protected final long octets() {
    return octets;
  }

  /** Whether a station still takes it. */
  public final boolean isTaken() {
    return sink != null && !isComplete();
  }

  /** Whether all of it was given on, or was never to come. */
  protected abstract boolean isComplete();

  @Override
  public void pause() {
    if (rate != null) {
      rate.hold(owner.now());
    }
  }

  @Override
  public void resume() {
    if (rate != null) {
      rate.release(owner.now());
    }
  }

  /** From now on the client has to send at the least rate. */
  protected final void clientMaySend() {
    long now = owner.now();
    if (rate == null) {
      rate = new LeastRate(now, octets);
    } else {
      rate.release(now);
    }
  }

  /**
   * Whether the client sends slower than the least rate.
   *
   * @param bytes that have come in all
   */
  protected final boolean isBelowLeastRate(long nowNanos, long bytes) {
    ClientSettings settings = owner.settings();
    return rate != null
        && rate.isTooSlow(
            nowNanos, bytes, ClientSettings.UPLOAD_GRACE_NANOS, settings.minBytesPerSecond());
  }

  /** Gives nothing more to who took it, and says who that was if not all had come. */
  public @Nullable ContentSink dismiss() {
    ContentSink taker = isTaken() ? sink : null;
    sink = null;
    isDropped = true;
    return taker;
  }

  /** The rest will not come. */
  public final void breakOff(Failure why) {
    ContentSink taker = dismiss();
    if (taker != null) {
      taker.abort(why);
    }
  }

  /** Passes content on up to a limit. Confined to the exchange's loop. */
  private static final class LimitedSink implements ContentSink {

    private final ContentSink sink;
    private final Runnable exceeded;
    private long left;

    /**
     * Passes up to {@code limit} octets on to {@code sink}.
     *
     * @param exceeded called for each chunk beyond the limit, which is dropped; to end the exchange
     */
    LimitedSink(ContentSink sink, long limit, Runnable exceeded) {
      this.sink = sink;
      this.left = limit;
      this.exceeded = exceeded;
    }

    @Override
    public void write(ByteBuf chunk) {
      left -= chunk.readableBytes();
      if (left < 0) {
        chunk.release();
        exceeded.run();
      } else {
        sink.write(chunk);
      }
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
