package io.kamille.core.exchange;

import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import org.jspecify.annotations.Nullable;

/** Passes everything on to another reply. Confined to the exchange's loop. */
public class PassingReply implements Reply {

  private final Reply reply;

  /** Passes everything on to {@code reply}. */
  public PassingReply(Reply reply) {
    this.reply = reply;
  }

  @Override
  public void open(ContentSource source) {
    reply.open(source);
  }

  @Override
  public void interim(ResponseHead head) {
    reply.interim(head);
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    reply.head(head, contentLength);
  }

  /**
   * As {@link Reply#head(ResponseHead, long, ByteBuf)} of the other reply; this one's own takes no
   * content with the head, because who overrides {@code write} is to see it.
   */
  protected final boolean passHead(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    return reply.head(head, contentLength, whole);
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    reply.stored(status, ownLines, ownLength, linesAndContent, contentLength);
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    reply.storedHead(status, ownLines, ownLength, lines, contentLength);
  }

  @Override
  public void write(ByteBuf chunk) {
    reply.write(chunk);
  }

  @Override
  public boolean takesRegions() {
    return reply.takesRegions();
  }

  @Override
  public void write(FileRegion region) {
    reply.write(region);
  }

  @Override
  public void end(@Nullable Fields trailers) {
    reply.end(trailers);
  }

  @Override
  public void abort(Failure why) {
    reply.abort(why);
  }

  @Override
  public void fail(Failure why) {
    reply.fail(why);
  }

  @Override
  public boolean isBegun() {
    return reply.isBegun();
  }

  @Override
  public boolean isEnded() {
    return reply.isEnded();
  }
}
