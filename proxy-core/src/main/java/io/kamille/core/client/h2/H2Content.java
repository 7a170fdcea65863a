package io.kamille.core.client.h2;

import io.kamille.core.client.ClientContent;
import io.kamille.core.content.QueuePieces;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The content of one request on its way in. Confined to its loop. */
final class H2Content extends ClientContent {

  /*
   * What comes before anybody wants it, or while its taker pauses, waits in a queue; the stream's
   * window bounds it. Credit goes back to the client for what was passed on, and for nothing else.
   */

  /** The stream. */
  interface Stream extends ClientContent.Owner {

    /** So many octets were passed on: the client may send as many again. */
    void credit(int bytes);

    /** The content is not what the request says of it (RFC 9113 §8.1.1). */
    void contentIsMalformed(String reason);
  }

  private static final Failure DISMISSED =
      Failure.of(ErrorType.CLIENT_GONE, "nobody takes the content");

  private final Stream owner;
  private final boolean isTunnel;
  private final QueuePieces waiting = new QueuePieces();
  private long creditedOctets;
  private long seenOctets;
  private long movedNanos;
  private @Nullable Fields trailers;

  /**
   * The content of a stream's request.
   *
   * @param length -1 if the request does not say
   * @param isTunnel whether there is none, and what comes is for {@link #tunnel}
   */
  H2Content(Stream owner, long length, boolean isTunnel) {
    super(owner, length < 0 ? UNKNOWN_LENGTH : length);
    this.owner = owner;
    this.isTunnel = isTunnel;
  }

  boolean isTunnel() {
    return isTunnel;
  }

  @Override
  public long length() {
    return isTunnel ? 0 : super.length();
  }

  @Override
  public void start(ContentSink sink) {
    if (isTunnel) {
      sink.end(null);
    } else {
      super.start(sink);
    }
  }

  @Override
  protected void started() {
    movedNanos = owner.now();
    waiting.giveTo(new Taker());
  }

  @Override
  public void tunnel(ContentSink sink) {
    if (!isTunnel || isDropped()) {
      sink.abort(Failure.of(ErrorType.CLIENT_GONE, "there is no tunnel"));
      return;
    }
    take(sink);
    waiting.giveTo(new Taker());
  }

  @Override
  public void pause() {
    waiting.pause();
    super.pause();
  }

  @Override
  public void resume() {
    if (waiting.isPaused()) {
      super.resume();
      waiting.resume();
    }
  }

  @Override
  public void cancel(Failure why) {
    dismiss();
  }

  /** Takes ownership. */
  void received(ByteBuf chunk) {
    came(chunk.readableBytes());
    if (super.length() >= 0 && octets() > super.length()) {
      chunk.release();
      owner.contentIsMalformed("more content than its length says");
      return;
    }
    waiting.write(chunk);
    if (isDropped()) {
      creditAll();
    }
  }

  /** The end follows. */
  void receivedTrailers(Fields fields) {
    trailers = fields.size() == 0 ? null : fields;
  }

  void receivedEnd() {
    if (super.length() >= 0 && octets() != super.length()) {
      owner.contentIsMalformed("less content than its length says");
      return;
    }
    waiting.end(trailers);
  }

  @Override
  protected boolean isComplete() {
    return waiting.isOver();
  }

  /**
   * Whether the client sends slower than it must, or nothing at all for too long. Looked at by the
   * sweep.
   *
   * @param partialBytes what has come of a frame that is not complete
   */
  boolean isTooSlow(long nowNanos, int partialBytes) {
    if (isTunnel || waiting.isComplete() || !isTaken()) {
      return false;
    }
    long seen = octets() + partialBytes;
    if (waiting.isPaused() || seen != seenOctets) {
      seenOctets = seen;
      movedNanos = nowNanos;
    }
    return nowNanos - movedNanos >= owner.settings().contentTimeout().toNanos()
        || isBelowLeastRate(nowNanos, seen);
  }

  @Override
  public @Nullable ContentSink dismiss() {
    ContentSink taker = super.dismiss();
    waiting.cancel(DISMISSED);
    creditAll();
    return taker;
  }

  private void creditAll() {
    credit(octets() - creditedOctets);
  }

  private void credit(long octets) {
    if (octets > 0) {
      creditedOctets += octets;
      owner.credit((int) octets);
    }
  }

  /** Gives on what the queue gives, and credits it. */
  private final class Taker implements ContentSink {

    @Override
    public void write(ByteBuf chunk) {
      credit(chunk.readableBytes());
      Objects.requireNonNull(sink()).write(chunk);
    }

    @Override
    public void end(@Nullable Fields fields) {
      Objects.requireNonNull(sink()).end(fields);
    }

    @Override
    public void abort(Failure why) {
      Objects.requireNonNull(sink()).abort(why);
    }
  }
}
