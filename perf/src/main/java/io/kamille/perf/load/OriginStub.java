package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.kamille.core.http.HttpDate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import java.util.HashMap;
import java.util.Map;

/**
 * The origin server of every comparison; the path says what it answers.
 *
 * <p>{@code /hit/SIZE} may be stored for an hour, {@code /text/SIZE} too and is text, {@code
 * /pass/SIZE} must not be stored. Each response carries a number of its own in {@code X-Serial}: a
 * proxy that answers twice with the same number answered from its store. {@code /made/…} is
 * answered as {@link OriginTarget} says. {@code /requests} tells how many have come.
 */
public final class OriginStub extends RequestScanner {

  private static final String OCTETS = "application/octet-stream";
  private static final int SIZE_LIMIT = 16 << 20;
  static final String SERIAL_FIELD = "X-Serial";
  private static final byte[] IF_MODIFIED_SINCE = "\nif-modified-since:".getBytes(US_ASCII);

  private final Shared shared;
  private int uses;
  private int usesLimit;

  private OriginStub(Shared shared) {
    this.shared = shared;
  }

  /** Serves on the loopback port given as the one argument, until the process is told to end. */
  public static void main(String[] arguments) {
    try (var server = open(Integer.parseInt(arguments[0]))) {
      server.serve();
    }
  }

  static OneLoopServer open(int port) {
    Handlers handlers = handlers();
    return OneLoopServer.open(port, handlers::make, handlers::release);
  }

  /** For the connections of one loop. */
  static Handlers handlers() {
    return new Handlers(new Shared());
  }

  /** Makes handlers, one for each connection, and releases what they have in common. */
  record Handlers(Shared shared) {

    ChannelHandler make() {
      return new OriginStub(shared);
    }

    void release() {
      shared.release();
    }
  }

  @Override
  void answer(ChannelHandlerContext context, ByteBuf in, int path, int end) {
    switch (in.getByte(path + 1)) {
      case 'm' -> make(context, in, path, end);
      case 'h' -> send(context, "max-age=3600", number(in, path + "/hit/".length()));
      case 't' -> sendText(context, number(in, path + "/text/".length()));
      case 'p' -> send(context, "no-store", number(in, path + "/pass/".length()));
      default -> sendCount(context);
    }
  }

  private void make(ChannelHandlerContext context, ByteBuf in, int path, int end) {
    int pathEnd = in.indexOf(path, end, (byte) ' ');
    OriginTarget target = OriginTarget.parse(in.toString(path, pathEnd - path, US_ASCII));
    shared.requests++;
    if (uses++ == 0) {
      usesLimit = target.of(OriginTarget.Trait.USES);
    }
    boolean isHead = in.getByte(in.readerIndex()) == 'H';
    boolean isLast = usesLimit > 0 && uses >= usesLimit;
    new MadeAnswer(
            context.channel(), target, shared.requests, isHead, since(in, pathEnd, end), isLast)
        .start();
  }

  private static long since(ByteBuf in, int start, int end) {
    int value = fieldValue(in, start, end, IF_MODIFIED_SINCE);
    return value < 0 || value + HttpDate.LENGTH > end
        ? HttpDate.INVALID
        : HttpDate.parse(in.toString(value, HttpDate.LENGTH, US_ASCII), 0);
  }

  private void send(ChannelHandlerContext context, String cacheControl, int size) {
    if (isTaken(context, size)) {
      context.write(head(context, OCTETS, cacheControl, size), context.voidPromise());
      context.write(shared.content(size).retainedDuplicate(), context.voidPromise());
    }
  }

  private void sendText(ChannelHandlerContext context, int size) {
    if (isTaken(context, size)) {
      byte[] text = FixedContent.text(size);
      context.write(head(context, "text/plain", "max-age=3600", size), context.voidPromise());
      context.write(Unpooled.wrappedBuffer(text), context.voidPromise());
    }
  }

  /** Counts the request, unless it asks for too much. */
  private boolean isTaken(ChannelHandlerContext context, int size) {
    if (size > SIZE_LIMIT) {
      context.close();
      return false;
    }
    shared.requests++;
    return true;
  }

  private void sendCount(ChannelHandlerContext context) {
    byte[] count = Long.toString(shared.requests).getBytes(US_ASCII);
    context.write(head(context, OCTETS, "no-store", count.length), context.voidPromise());
    context.write(Unpooled.wrappedBuffer(count), context.voidPromise());
  }

  private ByteBuf head(ChannelHandlerContext context, String type, String cacheControl, int size) {
    ByteBuf head = context.alloc().directBuffer(256);
    head.writeBytes(shared.beginning());
    ByteBufUtil.writeAscii(head, type);
    ByteBufUtil.writeAscii(head, "\r\nCache-Control: ");
    ByteBufUtil.writeAscii(head, cacheControl);
    ByteBufUtil.writeAscii(head, "\r\nContent-Length: ");
    ByteBufUtil.writeAscii(head, Integer.toString(size));
    ByteBufUtil.writeAscii(head, "\r\n" + SERIAL_FIELD + ": ");
    ByteBufUtil.writeAscii(head, Long.toString(shared.requests));
    ByteBufUtil.writeAscii(head, "\r\n\r\n");
    return head;
  }

  /** What the connections have in common; owns the contents. Confined to the one loop. */
  private static final class Shared {

    private final Map<Integer, ByteBuf> contents = new HashMap<>();
    private long requests;
    private long second;
    private byte[] beginning = {};

    ByteBuf content(int size) {
      return contents.computeIfAbsent(size, FixedContent::direct);
    }

    void release() {
      contents.values().forEach(ByteBuf::release);
    }

    /** Everything that is the same in all responses of a second. */
    byte[] beginning() {
      long now = System.currentTimeMillis() / 1000;
      if (now != second) {
        second = now;
        beginning =
            ("HTTP/1.1 200 OK\r\nDate: " + HttpDate.format(now) + "\r\nContent-Type: ")
                .getBytes(US_ASCII);
      }
      return beginning;
    }
  }
}
