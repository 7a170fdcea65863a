package io.kamille.launcher.warm;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the response to a request of a warm-up: its status counts, and its content if that is a
 * sitemap. Confined to its loop until it has ended; then its results may be read by who is told.
 */
final class WarmReply implements Reply {

  /*
   * Toward the stations it is a client that reads all and is never slow. It ends once, whatever
   * comes behind is released.
   */
  private final int contentLimit;
  private final Consumer<WarmReply> whenEnded;
  private final ByteArrayOutputStream content = new ByteArrayOutputStream();
  private ContentSource source = ContentSource.NONE;
  private int status;
  private String trouble = "";
  private boolean isBegun;
  private boolean isEnded;

  /**
   * Nothing has come.
   *
   * @param contentLimit how much content is kept; 0 for none, which has no limit then
   * @param whenEnded told once, on the loop
   */
  WarmReply(int contentLimit, Consumer<WarmReply> whenEnded) {
    this.contentLimit = contentLimit;
    this.whenEnded = whenEnded;
  }

  int status() {
    return status;
  }

  /** Why there is no whole response; empty if there is. */
  String trouble() {
    return trouble;
  }

  String content() {
    return content.toString(StandardCharsets.UTF_8);
  }

  /** Wants no more, for a reason. On the loop. */
  void giveUp(String why) {
    if (!isEnded) {
      ContentSource asked = source;
      ended(why);
      asked.cancel(Failure.of(Failure.Kind.CLIENT_GONE, why));
    }
  }

  private void ended(String why) {
    if (!isEnded) {
      isBegun = true;
      isEnded = true;
      source = ContentSource.NONE;
      trouble = why;
      whenEnded.accept(this);
    }
  }

  @Override
  public void open(ContentSource opened) {
    if (isEnded) {
      opened.cancel(Failure.of(Failure.Kind.CLIENT_GONE, "the warm-up wants no more"));
    } else {
      source = opened;
    }
  }

  @Override
  public void interim(ResponseHead head) {}

  @Override
  public void head(ResponseHead head, long contentLength) {
    isBegun = true;
    status = head.status();
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    this.status = status;
    linesAndContent.skipBytes((int) (linesAndContent.readableBytes() - contentLength));
    write(linesAndContent);
    ended("");
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    isBegun = true;
    this.status = status;
    lines.release();
  }

  @Override
  public void write(ByteBuf chunk) {
    try {
      if (!isEnded && contentLimit > 0) {
        content.writeBytes(ByteBufUtil.getBytes(chunk));
      }
    } finally {
      chunk.release();
    }
    if (content.size() > contentLimit && contentLimit > 0) {
      giveUp("it has more than " + contentLimit + " octets");
    }
  }

  @Override
  public void end(@Nullable Fields trailers) {
    ended("");
  }

  @Override
  public void abort(Failure why) {
    ended(why.kind().token());
  }

  @Override
  public void fail(Failure why) {
    status = why.status();
    ended(why.kind().token() + ": " + why.reason());
  }

  @Override
  public boolean isBegun() {
    return isBegun;
  }

  @Override
  public boolean isEnded() {
    return isEnded;
  }
}
