package io.kamille.launcher.warm;

import io.kamille.core.exchange.DiscardingReply;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Takes the response to a request of a warm-up: its status counts, and its content if that is a
 * sitemap. Confined to its loop until it has ended; then its results may be read by who is told.
 */
final class WarmReply extends DiscardingReply {

  private final int contentLimit;
  private final ByteArrayOutputStream content = new ByteArrayOutputStream();
  private int status;
  private String failure = "";

  /**
   * Nothing has come.
   *
   * @param contentLimit how much content is kept; 0 for none, which has no limit then
   * @param whenEnded run once, on the loop
   */
  WarmReply(int contentLimit, Runnable whenEnded) {
    super(whenEnded);
    this.contentLimit = contentLimit;
  }

  /** Why there is no whole and good response; empty if there is. */
  String failure() {
    return failure.isEmpty() && status >= 400 ? "status " + status : failure;
  }

  String content() {
    return content.toString(StandardCharsets.UTF_8);
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
    linesAndContent.skipBytes((int) (linesAndContent.readableBytes() - contentLength));
    write(linesAndContent);
    end(null);
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    this.status = status;
    super.storedHead(status, ownLines, ownLength, lines, contentLength);
  }

  @Override
  public void write(ByteBuf chunk) {
    if (contentLimit > 0 && content.size() + chunk.readableBytes() > contentLimit) {
      giveUp("it has more than " + contentLimit + " octets");
    } else if (contentLimit > 0) {
      content.writeBytes(ByteBufUtil.getBytes(chunk));
    }
    super.write(chunk);
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
