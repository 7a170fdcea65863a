package io.kamille.core.h1;

import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Writes content in the chunked coding (RFC 9112 §7.1). Stateless; on the channel's loop. */
public final class ChunkedEncoder {

  private static final ByteBuf CRLF = constant("\r\n");
  private static final ByteBuf LAST = constant("0\r\n\r\n");

  private ChunkedEncoder() {}

  /** Writes one chunk, unless it is empty: that would end the content. Takes ownership. */
  public static void write(Channel channel, ByteBuf chunk) {
    int length = chunk.readableBytes();
    if (length == 0) {
      chunk.release();
      return;
    }
    channel.write(size(channel.alloc(), length), channel.voidPromise());
    channel.write(chunk, channel.voidPromise());
    channel.write(CRLF.duplicate(), channel.voidPromise());
  }

  /** Writes the last chunk and the trailer section. Borrows the trailer fields. */
  public static void end(Channel channel, @Nullable Fields trailers) {
    if (trailers == null || trailers.size() == 0) {
      channel.write(LAST.duplicate(), channel.voidPromise());
      return;
    }
    ByteBuf last = channel.alloc().directBuffer();
    last.writeByte('0').writeShort('\r' << 8 | '\n');
    trailers.writeTo(last);
    last.writeShort('\r' << 8 | '\n');
    channel.write(last, channel.voidPromise());
  }

  private static ByteBuf size(ByteBufAllocator allocator, int length) {
    ByteBuf out = allocator.directBuffer(16);
    int digits = (Integer.SIZE - Integer.numberOfLeadingZeros(length) + 3) / 4;
    for (int i = digits - 1; i >= 0; i--) {
      out.writeByte(Character.forDigit(length >>> (4 * i) & 0xf, 16));
    }
    return out.writeShort('\r' << 8 | '\n');
  }

  private static ByteBuf constant(String text) {
    return Unpooled.unreleasableBuffer(
        Unpooled.directBuffer(text.length())
            .writeBytes(text.getBytes(StandardCharsets.US_ASCII))
            .asReadOnly());
  }
}
