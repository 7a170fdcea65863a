package io.kamille.core.exchange;

import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** The reply of a request that no client made: nobody sees the response. Confined to its loop. */
public class DiscardingReply implements Reply {

  private final Runnable whenEnded;
  private ContentSource source = ContentSource.NONE;
  private boolean isBegun;
  private boolean isEnded;

  /** Runs {@code whenEnded} once, however it ends. */
  public DiscardingReply(Runnable whenEnded) {
    this.whenEnded = whenEnded;
  }

  @Override
  public void open(ContentSource source) {
    this.source = source;
    if (isEnded) {
      source.cancel(Failure.of(Failure.ErrorType.CLIENT_GONE, "the exchange is over"));
    }
  }

  @Override
  public void interim(ResponseHead head) {}

  @Override
  public void head(ResponseHead head, long contentLength) {
    isBegun = true;
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    linesAndContent.release();
    ended();
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    isBegun = true;
    lines.release();
  }

  @Override
  public void write(ByteBuf chunk) {
    chunk.release();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    ended();
  }

  @Override
  public void abort(Failure why) {
    ended();
  }

  @Override
  public void fail(Failure failure) {
    ended();
  }

  @Override
  public boolean isBegun() {
    return isBegun;
  }

  @Override
  public boolean isEnded() {
    return isEnded;
  }

  /** Wants no more of the response: it is over, if it was not before. */
  protected final void leave(String why) {
    if (!isEnded) {
      ended();
      source.cancel(Failure.of(Failure.ErrorType.CLIENT_GONE, why));
    }
  }

  /** It is over, if it was not before. */
  protected final void ended() {
    if (!isEnded) {
      isBegun = true;
      isEnded = true;
      whenEnded.run();
    }
  }
}
