package io.kamille.cache;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** A client that takes everything at once, and counts the octets. Confined to its loop. */
final class NullReply implements Reply {

  private long octets;
  private boolean isBegun;
  private boolean isEnded;

  /** Begins anew. */
  void clear() {
    octets = 0;
    isBegun = false;
    isEnded = false;
  }

  /** Field lines and content since the beginning. */
  long octets() {
    return octets;
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
    storedHead(status, ownLines, ownLength, linesAndContent, contentLength);
    isEnded = true;
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    isBegun = true;
    octets += ownLength;
    write(lines);
  }

  @Override
  public void write(ByteBuf chunk) {
    octets += chunk.readableBytes();
    chunk.release();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    isEnded = true;
  }

  @Override
  public void abort(Failure why) {
    isEnded = true;
  }

  @Override
  public void fail(Failure failure) {
    isBegun = true;
    isEnded = true;
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
