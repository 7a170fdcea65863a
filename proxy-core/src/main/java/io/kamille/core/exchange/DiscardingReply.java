package io.kamille.core.exchange;

import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** The reply of a request that no client made: nobody sees the response. Confined to its loop. */
public class DiscardingReply implements Reply {

  private final Runnable whenEnded;
  private boolean isBegun;
  private boolean isEnded;

  /** Runs {@code whenEnded} once, however it ends. */
  public DiscardingReply(Runnable whenEnded) {
    this.whenEnded = whenEnded;
  }

  @Override
  public void open(ContentSource source) {}

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

  /** It is over, if it was not before. */
  protected final void ended() {
    if (!isEnded) {
      isBegun = true;
      isEnded = true;
      whenEnded.run();
    }
  }
}
