package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.jspecify.annotations.Nullable;

/**
 * Finds where each request ends and has it answered, trusting that it is a well-formed {@code GET},
 * {@code HEAD} or {@code POST} with a Content-Length. Confined to its loop.
 */
abstract class RequestScanner extends ChannelInboundHandlerAdapter {

  private static final int CRLF_CRLF = 0x0d0a0d0a;
  private static final int HEAD_LIMIT_BYTES = 16 * 1024;

  private static final byte[] CONTENT_LENGTH = "\ncontent-length:".getBytes(US_ASCII);

  /** The beginning of a head whose end has not come, ours to release. */
  private @Nullable ByteBuf begun;

  /** Octets of a request's content that have not come and are not looked at. */
  private int skipped;

  /**
   * Answers one request, whose path begins at {@code path} and whose head ends before {@code end};
   * the answer is flushed later. Borrows the buffer until it returns.
   */
  abstract void answer(ChannelHandlerContext context, ByteBuf in, int path, int end);

  @Override
  public final void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = joined((ByteBuf) message);
    try {
      skip(in);
      for (int end = headEnd(in); end >= 0; end = headEnd(in)) {
        answer(context, in, path(in), end);
        skipped = in.getByte(in.readerIndex()) == 'P' ? contentLength(in, end) : 0;
        in.readerIndex(end);
        skip(in);
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

  private static int path(ByteBuf in) {
    return in.readerIndex() + (in.getByte(in.readerIndex()) == 'G' ? 4 : 5);
  }

  private void skip(ByteBuf in) {
    int count = Math.min(skipped, in.readableBytes());
    in.skipBytes(count);
    skipped -= count;
  }

  private static int contentLength(ByteBuf in, int end) {
    int value = fieldValue(in, in.readerIndex(), end, CONTENT_LENGTH);
    return value < 0 ? 0 : number(in, value);
  }

  /**
   * Where the value of a field begins, behind blanks, or -1 if the head has no such field.
   *
   * @param name in lower case, between a line feed and a colon
   */
  static int fieldValue(ByteBuf in, int start, int end, byte[] name) {
    for (int lf = in.indexOf(start, end, (byte) '\n');
        lf >= 0 && lf + name.length < end;
        lf = in.indexOf(lf + 1, end, (byte) '\n')) {
      if (hasName(in, lf, name)) {
        int at = lf + name.length;
        while (in.getByte(at) == ' ') {
          at++;
        }
        return at;
      }
    }
    return -1;
  }

  private static boolean hasName(ByteBuf in, int at, byte[] name) {
    for (int i = 0; i < name.length; i++) {
      byte octet = in.getByte(at + i);
      if ((octet >= 'A' && octet <= 'Z' ? octet | 0x20 : octet) != name[i]) {
        return false;
      }
    }
    return true;
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
