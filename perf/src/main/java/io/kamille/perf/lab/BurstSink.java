package io.kamille.perf.lab;

import io.kamille.core.hostsocket.HostSockets;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.PacedPolls;
import io.kamille.core.setting.HostPort;
import io.kamille.perf.load.Responder;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The receiver of the paper's one-way test: one loop with a busy wait, which reads into buffers of
 * the size that the sender writes, and tells at the end how many octets came. {@link
 * Responder#SPIN} is its busy wait.
 */
final class BurstSink {

  /*
   *    sender                        sink
   *      │ size of buffers (int) ──▶   │
   *      │   ◀── an octet: begin       │
   *      │ octets, end of output ──▶   │
   *      │   ◀── how many (long)       │
   *
   * With the size ECHO, all octets come back instead.
   */
  private static final int ECHO = 0;

  private static final int BACKLOG = 16;
  private static final int ECHO_BYTES = 64;

  /** What a sink prints once it listens. */
  static final String LISTENS = "sink listens";

  private BurstSink() {}

  /**
   * Serves until the process is told to end.
   *
   * @param arguments an address, a port, and, if host sockets are to be used, where their helper is
   */
  public static void main(String[] arguments) throws IOException {
    var at = new HostPort(arguments[0], Integer.parseInt(arguments[1]));
    Duration spin = Duration.ofNanos(Long.getLong(Responder.SPIN, 0) * 1000);
    var polls = PacedPolls.over(EpollIoHandler.newFactory(), PaceSettings.OFF.withSpin(spin));
    var bootstrap =
        new ServerBootstrap()
            .group(new MultiThreadIoEventLoopGroup(1, polls))
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    var connection = new Connection();
                    channel.config().setRecvByteBufAllocator(connection.buffers());
                    channel.pipeline().addLast(connection);
                  }
                });
    if (arguments.length < 3) {
      bootstrap
          .channel(EpollServerSocketChannel.class)
          .bind(at.socketAddress())
          .syncUninterruptibly();
    } else {
      int descriptor = HostSockets.open(Path.of(arguments[2])).listen(at, BACKLOG, 1).getFirst();
      bootstrap
          .channelFactory(() -> new EpollServerSocketChannel(descriptor))
          .register()
          .syncUninterruptibly();
    }
    System.out.println(LISTENS);
  }

  private static final class Connection extends ChannelInboundHandlerAdapter {

    private int size = -1;
    private long count;

    private DefaultMaxMessagesRecvByteBufAllocator buffers() {
      return new DefaultMaxMessagesRecvByteBufAllocator() {
        @Override
        public MaxMessageHandle newHandle() {
          return new MaxMessageHandle() {
            @Override
            public int guess() {
              return size <= ECHO ? ECHO_BYTES : size;
            }
          };
        }
      };
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf in = (ByteBuf) message;
      if (size == ECHO) {
        context.writeAndFlush(in);
        return;
      }
      if (size < 0) {
        size = in.readInt();
        context.writeAndFlush(context.alloc().directBuffer(1).writeByte(1));
      }
      count += in.readableBytes();
      in.release();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof ChannelInputShutdownEvent) {
        context
            .writeAndFlush(context.alloc().directBuffer(Long.BYTES).writeLong(count))
            .addListener(ChannelFutureListener.CLOSE);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  // The sender's side

  /** A connection on which octets come back. */
  static java.nio.channels.SocketChannel echo(InetSocketAddress sink) throws IOException {
    var channel = connect(sink, ECHO);
    channel.configureBlocking(false);
    return channel;
  }

  /** A connection whose octets are read into buffers of that size. */
  static java.nio.channels.SocketChannel connect(InetSocketAddress sink, int size)
      throws IOException {
    var channel = java.nio.channels.SocketChannel.open(sink);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.write(ByteBuffer.allocate(Integer.BYTES).putInt(size).flip());
    read(channel, 1);
    return channel;
  }

  /** Ends the sending, and returns how many octets have come when all have. */
  static long end(java.nio.channels.SocketChannel channel) throws IOException {
    channel.shutdownOutput();
    return read(channel, Long.BYTES).getLong();
  }

  private static ByteBuffer read(java.nio.channels.SocketChannel channel, int bytes)
      throws IOException {
    ByteBuffer in = ByteBuffer.allocate(bytes);
    while (in.hasRemaining()) {
      if (channel.read(in) < 0) {
        throw new IOException("the sink closed the connection");
      }
    }
    return in.flip();
  }
}
