package io.kamille.perf.load;

import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.PacedPolls;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A server with one loop whose poll is paced by Kamille's own handler, over native epoll or over
 * whatever selector the JDK was told to take, {@code poll(2)} for one. It answers as {@link
 * OriginStub} does.
 *
 * <p>{@code /polls} tells how many polls there were and how many events they brought. What begins
 * with an E is sent back.
 */
public final class PacedResponder {

  /** The property that says whether to use native epoll, {@code epoll}, or the JDK, {@code nio}. */
  public static final String TRANSPORT = "kamille.lab.transport";

  /** The property with the interval between two polls, in microseconds; 0 for no pacing. */
  public static final String INTERVAL = "kamille.lab.interval";

  /** The property with the longest busy wait before the loop blocks, in microseconds. */
  public static final String SPIN = "kamille.lab.spin";

  /** The option that makes the JDK's selectors use {@code poll(2)}. */
  public static final String POLL_OPTION =
      "-Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.PollSelectorProvider";

  private static final int STOP_MILLIS = 5000;
  private static final long NANOS = 1000;
  private static final byte[] POLLS = "GET /polls ".getBytes(StandardCharsets.US_ASCII);

  private PacedResponder() {}

  /** Serves on the loopback port given as the one argument, until the process is told to end. */
  public static void main(String[] arguments) {
    boolean isEpoll = "epoll".equals(System.getProperty(TRANSPORT));
    PaceSettings pace =
        pace(Long.getLong(INTERVAL, 0) * NANOS).withSpinLimit(Long.getLong(SPIN, 0) * NANOS);
    try (var server = open(Integer.parseInt(arguments[0]), isEpoll, pace)) {
      server.serve();
    }
  }

  /** A fixed interval, or none at all. */
  static PaceSettings pace(long intervalNanos) {
    return intervalNanos == 0 ? PaceSettings.OFF : PaceSettings.fixed(intervalNanos);
  }

  /**
   * Listens.
   *
   * @param port 0 lets the kernel choose
   */
  static OneLoopServer open(int port, boolean isEpoll, PaceSettings pace) {
    IoHandlerFactory selector = isEpoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    PacedPolls polls = PacedPolls.over(selector, pace);
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, polls);
    var stub = OriginStub.handlers();
    Channel socket =
        OneLoopServer.listen(group, isEpoll, port, () -> new PollCounts(polls, stub.make()))
            .syncUninterruptibly()
            .channel();
    return new OneLoopServer(
        socket,
        () -> {
          group
              .shutdownGracefully(0, STOP_MILLIS, TimeUnit.MILLISECONDS)
              .awaitUninterruptibly(STOP_MILLIS);
          stub.release();
        });
  }

  /** Answers {@code /polls}, echoes, and lets everything else pass. Confined to its loop. */
  private static final class PollCounts extends ChannelInboundHandlerAdapter {

    private final PacedPolls polls;
    private final ChannelHandler next;

    private PollCounts(PacedPolls polls, ChannelHandler next) {
      this.polls = polls;
      this.next = next;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      context.pipeline().addLast(next);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf in = (ByteBuf) message;
      if (in.isReadable() && in.getByte(in.readerIndex()) == 'E') {
        context.writeAndFlush(in);
        return;
      }
      if (!asksForPolls(in)) {
        context.fireChannelRead(in);
        return;
      }
      in.release();
      String counts = polls.count() + " " + polls.events();
      String response =
          "HTTP/1.1 200 OK\r\nContent-Length: " + counts.length() + "\r\n\r\n" + counts;
      context.writeAndFlush(Unpooled.copiedBuffer(response, StandardCharsets.US_ASCII));
    }

    private static boolean asksForPolls(ByteBuf in) {
      int start = in.readerIndex();
      for (int i = 0; i < POLLS.length; i++) {
        if (in.readableBytes() <= i || in.getByte(start + i) != POLLS[i]) {
          return false;
        }
      }
      return true;
    }
  }
}
