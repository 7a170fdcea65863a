package io.kamille.perf.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.jspecify.annotations.Nullable;

/**
 * Finds where each request ends and has it answered, trusting that it is a well-formed {@code GET}.
 * Confined to its loop.
 */
abstract class RequestScanner extends ChannelInboundHandlerAdapter {

  private static final int CRLF_CRLF = 0x0d0a0d0a;
  private static final int HEAD_LIMIT_BYTES = 16 * 1024;

  /** Octets of the request line before the path. */
  private static final int METHOD_LENGTH = "GET ".length();

  /** The beginning of a head whose end has not come, ours to release. */
  private @Nullable ByteBuf begun;

  /**
   * Answers one request, whose path begins at {@code path}; the answer is flushed later. Borrows
   * the buffer until it returns.
   */
  abstract void answer(ChannelHandlerContext context, ByteBuf in, int path);

  @Override
  public final void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = joined((ByteBuf) message);
    try {
      for (int end = headEnd(in); end >= 0; end = headEnd(in)) {
        answer(context, in, in.readerIndex() + METHOD_LENGTH);
        in.readerIndex(end);
      }
      if (in.readableBytes() > HEAD_LIMIT_BYTES) {
        context.close();
      } else if (in.isReadable()) {
        begun = context.alloc().buffer(HEAD_LIMIT_BYTES).writeBytes(in);
      }
    } finally {
      in.release();
    }
  }

  /** Behind the empty line of the first head, or -1 if it has not come. */
  static int headEnd(ByteBuf in) {
    int start = in.readerIndex();
    int end = in.writerIndex();
    for (int lf = in.indexOf(start, end, (byte) '\n');
        lf >= 0;
        lf = in.indexOf(lf + 1, end, (byte) '\n')) {
      if (lf - start >= 3 && in.getInt(lf - 3) == CRLF_CRLF) {
        return lf + 1;
      }
    }
    return -1;
  }

  /** The decimal number at {@code index}, at most nine digits of it. */
  static int number(ByteBuf in, int index) {
    int value = 0;
    for (int i = index; i < index + 9; i++) {
      int digit = in.getByte(i) - '0';
      if (digit < 0 || digit > 9) {
        break;
      }
      value = value * 10 + digit;
    }
    return value;
  }

  private ByteBuf joined(ByteBuf more) {
    ByteBuf first = begun;
    if (first == null) {
      return more;
    }
    begun = null;
    first.writeBytes(more);
    more.release();
    return first;
  }

  @Override
  public final void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  @Override
  public final void channelInactive(ChannelHandlerContext context) {
    if (begun != null) {
      begun.release();
      begun = null;
    }
  }

  @Override
  public final void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}
