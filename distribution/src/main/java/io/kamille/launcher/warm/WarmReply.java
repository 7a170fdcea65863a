package io.kamille.launcher.warm;

import io.kamille.core.exchange.DiscardingReply;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;

/**
 * Takes the response to a request of a warm-up: its status counts. Confined to its loop until it
 * has ended; then its result may be read by who is told.
 */
final class WarmReply extends DiscardingReply {

  private int status;
  private String failure = "";

  /**
   * Nothing has come.
   *
   * @param whenEnded run once, on the loop
   */
  WarmReply(Runnable whenEnded) {
    super(whenEnded);
  }

  /** Why there is no whole and good response; empty if there is. */
  String failure() {
    return failure.isEmpty() && status >= 400 ? "status " + status : failure;
  }

  /** Wants no more, for a reason. On the loop. */
  void giveUp(String why) {
    note(why);
    leave(why);
  }

  private void note(String why) {
    failure = isEnded() ? failure : why;
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    status = head.status();
    super.head(head, contentLength);
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    this.status = status;
    super.stored(status, ownLines, ownLength, linesAndContent, contentLength);
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    this.status = status;
    super.storedHead(status, ownLines, ownLength, lines, contentLength);
  }

  @Override
  public void abort(Failure why) {
    note(why.kind().token());
    super.abort(why);
  }

  @Override
  public void fail(Failure why) {
    note(why.kind().token() + ": " + why.reason());
    super.fail(why);
  }
}
