package io.kamille.perf.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.Map;

/**
 * The origin server of every comparison; the path says what it answers.
 *
 * <p>{@code /hit/SIZE} may be stored for an hour, {@code /pass/SIZE} must not be stored. Each
 * response carries a number of its own in {@code X-Serial}: a proxy that answers twice with the
 * same number answered from its store. {@code /requests} tells how many have come.
 */
public final class OriginStub extends RequestScanner {

  private static final int SIZE_LIMIT = 16 << 20;
  private static final String SERIAL_FIELD = "X-Serial: ";

  private final Shared shared;

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
    var shared = new Shared();
    return OneLoopServer.open(port, () -> new OriginStub(shared), shared::release);
  }

  @Override
  void answer(ChannelHandlerContext context, ByteBuf in, int path) {
    switch (in.getByte(path + 1)) {
      case 'h' -> send(context, "max-age=3600", number(in, path + "/hit/".length()));
      case 'p' -> send(context, "no-store", number(in, path + "/pass/".length()));
      default -> sendCount(context);
    }
  }

  private void send(ChannelHandlerContext context, String cacheControl, int size) {
    if (size > SIZE_LIMIT) {
      context.close();
      return;
    }
    shared.requests++;
    context.write(head(context, cacheControl, size), context.voidPromise());
    context.write(shared.content(size).retainedDuplicate(), context.voidPromise());
  }

  private void sendCount(ChannelHandlerContext context) {
    byte[] count = Long.toString(shared.requests).getBytes(StandardCharsets.US_ASCII);
    context.write(head(context, "no-store", count.length), context.voidPromise());
    context.write(Unpooled.wrappedBuffer(count), context.voidPromise());
  }

  private ByteBuf head(ChannelHandlerContext context, String cacheControl, int size) {
    ByteBuf head = context.alloc().directBuffer(256);
    head.writeBytes(shared.beginning());
    ByteBufUtil.writeAscii(head, cacheControl);
    ByteBufUtil.writeAscii(head, "\r\nContent-Length: ");
    ByteBufUtil.writeAscii(head, Integer.toString(size));
    ByteBufUtil.writeAscii(head, "\r\n" + SERIAL_FIELD);
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
        String date =
            DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC));
        beginning =
            ("HTTP/1.1 200 OK\r\nDate: "
                    + date
                    + "\r\nContent-Type: application/octet-stream\r\nCache-Control: ")
                .getBytes(StandardCharsets.US_ASCII);
      }
      return beginning;
    }
  }
}
