package io.kamille.cache;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.DiscardingReply;
import io.netty.buffer.ByteBuf;

/**
 * A client that takes everything at once, and counts the octets. It is used again although it is
 * over, which nobody asks on a hit. Confined to its loop.
 */
final class NullReply extends DiscardingReply {

  private long octets;

  NullReply() {
    super(() -> {});
  }

  /** Begins anew. */
  void clear() {
    octets = 0;
  }

  /** Field lines and content since the beginning. */
  long octets() {
    return octets;
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    octets += ownLength + linesAndContent.readableBytes();
    super.stored(status, ownLines, ownLength, linesAndContent, contentLength);
  }

  /** It wants content again, though it has ended before. */
  @Override
  public void open(ContentSource source) {}

  @Override
  public void write(ByteBuf chunk) {
    octets += chunk.readableBytes();
    super.write(chunk);
  }
}
