package io.kamille.core.client.open;

import io.kamille.core.client.Accepted;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A connection in clear text of which the first octets tell whether HTTP/2 is spoken on it: its
 * clients know that beforehand (RFC 9113 §3.3). Confined to its loop.
 */
final class PrefaceOpening extends OpeningConnection {

  /** No request of HTTP/1 begins like this: the method {@code PRI} is reserved. */
  private static final byte[] BEGINNING = "PRI * HTTP/2".getBytes(StandardCharsets.US_ASCII);

  private final Spoken spoken;
  private final Accepted accepted;
  private @Nullable ByteBuf begun;

  PrefaceOpening(Spoken spoken, Accepted accepted) {
    super(spoken.shared(), accepted.channel());
    this.spoken = spoken;
    this.accepted = accepted;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    ByteBuf before = begun;
    if (before != null) {
      in = context.alloc().directBuffer().writeBytes(before).writeBytes(in);
      ((ByteBuf) message).release();
      before.release();
      begun = null;
    }
    int length = Math.min(in.readableBytes(), BEGINNING.length);
    boolean same = true;
    for (int i = 0; i < length && same; i++) {
      same = in.getByte(in.readerIndex() + i) == BEGINNING[i];
    }
    if (same && length < BEGINNING.length) {
      begun = in;
      return;
    }
    becomes(spoken.inClear(same, accepted));
    accepted.channel().pipeline().fireChannelRead(in);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (begun != null) {
      begun.release();
      begun = null;
    }
  }
}
