package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A client that has closed its side still gets everything that is written to it later.
 *
 * <p>That it does not without the handler depends on how fast the client reads, so no test says so;
 * on a quiet machine, with {@code EpollIoHandler} alone, the answer stops short.
 */
class HalfCloseIoHandlerTest {

  private static final int LENGTH = 6 << 20;
  private static final int PATIENCE_MILLIS = 20_000;

  @Test
  void aHalfClosedClientGetsItsWholeLateAnswer() throws IOException {
    assertThat(received(true)).isEqualTo(LENGTH);
  }

  @Test
  void aClientThatClosesAfterTheAnswerGetsItToo() throws IOException {
    assertThat(received(false)).isEqualTo(LENGTH);
  }

  @Test
  void changingThreadsIsLeftToEpoll() {
    IoHandlerFactory epoll = EpollIoHandler.newFactory();
    assertThat(HalfCloseIoHandler.factory(epoll).isChangingThreadSupported())
        .isEqualTo(epoll.isChangingThreadSupported());
  }

  /** How many octets of a late answer arrive at a client that waits patiently. */
  private static int received(boolean halfClose) throws IOException {
    var handlers = HalfCloseIoHandler.factory(EpollIoHandler.newFactory());
    var group = new MultiThreadIoEventLoopGroup(1, handlers);
    try (Socket client = new Socket()) {
      Channel server =
          new ServerBootstrap()
              .group(group)
              .channel(EpollServerSocketChannel.class)
              .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
              .childHandler(new Answering(halfClose))
              .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
              .syncUninterruptibly()
              .channel();
      client.connect(server.localAddress(), PATIENCE_MILLIS);
      client.setSoTimeout(PATIENCE_MILLIS);
      client.getOutputStream().write('x');
      if (halfClose) {
        client.shutdownOutput();
      }
      return readAll(client.getInputStream());
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(PATIENCE_MILLIS);
    }
  }

  private static int readAll(InputStream in) throws IOException {
    byte[] octets = new byte[64 * 1024];
    int received = 0;
    try {
      for (int count = in.read(octets); count >= 0; count = in.read(octets)) {
        received += count;
      }
    } catch (SocketTimeoutException stuck) {
      return received;
    }
    return received;
  }

  /** Answers when the client has said something, or that it will say nothing more. */
  private static final class Answering extends ChannelInitializer<SocketChannel> {

    private final boolean onceClosed;

    Answering(boolean onceClosed) {
      this.onceClosed = onceClosed;
    }

    @Override
    protected void initChannel(SocketChannel channel) {
      channel
          .pipeline()
          .addLast(
              new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                  ReferenceCountUtil.release(message);
                  if (!onceClosed) {
                    answerLater(context);
                  }
                }

                @Override
                public void userEventTriggered(ChannelHandlerContext context, Object event) {
                  if (onceClosed && event == ChannelInputShutdownEvent.INSTANCE) {
                    answerLater(context);
                  }
                }
              });
    }

    /** Not from within the event: epoll has to have gone round once. */
    private static void answerLater(ChannelHandlerContext context) {
      context
          .executor()
          .schedule(
              () ->
                  context
                      .writeAndFlush(Unpooled.wrappedBuffer(new byte[LENGTH]))
                      .addListener(written -> context.close()),
              50,
              TimeUnit.MILLISECONDS);
    }
  }
}
