package io.kamille.perf.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;

/**
 * The floor of every comparison: what Netty and the kernel cost when nothing is done but answering.
 *
 * <p>{@code /hit/1024}, {@code /hit/16384} and {@code /hit/1048576} are answered by a ready-made
 * response outside the heap; nothing else of the request is looked at.
 */
public final class FloorResponder extends RequestScanner {

  private static final int SIZE_OFFSET = "/hit/".length();

  private final Responses responses;

  private FloorResponder(Responses responses) {
    this.responses = responses;
  }

  /** Serves on the loopback port given as the one argument, until the process is told to end. */
  public static void main(String[] arguments) {
    try (var server = open(Integer.parseInt(arguments[0]))) {
      server.serve();
    }
  }

  static OneLoopServer open(int port) {
    var responses = Responses.make();
    return OneLoopServer.open(port, () -> new FloorResponder(responses), responses::release);
  }

  @Override
  void answer(ChannelHandlerContext context, ByteBuf in, int path, int end) {
    ByteBuf response = responses.of(number(in, path + SIZE_OFFSET));
    context.write(response.retainedDuplicate(), context.voidPromise());
  }

  /** The responses, which belong to the server. */
  private record Responses(ByteBuf small, ByteBuf medium, ByteBuf large) {

    static Responses make() {
      return new Responses(response(1 << 10), response(16 << 10), response(1 << 20));
    }

    private static ByteBuf response(int size) {
      String head =
          "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: "
              + size
              + "\r\n\r\n";
      return ByteBufAllocator.DEFAULT
          .directBuffer(head.length() + size)
          .writeBytes(head.getBytes(StandardCharsets.US_ASCII))
          .writeBytes(FixedContent.octets(size));
    }

    void release() {
      small.release();
      medium.release();
      large.release();
    }

    ByteBuf of(int size) {
      return switch (size) {
        case 1 << 10 -> small;
        case 16 << 10 -> medium;
        default -> large;
      };
    }
  }
}
