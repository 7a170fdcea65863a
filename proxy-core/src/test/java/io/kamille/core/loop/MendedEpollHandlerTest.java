package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A client that has closed its side still gets everything that is written to it later, and nobody
 * gets an event of who had the descriptor before.
 *
 * <p>That the first is not so without the handler depends on how fast the client reads, so no test
 * says so; on a quiet machine, with {@code EpollIoHandler} alone, the answer stops short.
 */
class MendedEpollHandlerTest {

  private static final int LENGTH = 6 << 20;
  private static final int PATIENCE_MILLIS = 60_000;

  @Test
  void aHalfClosedClientGetsItsWholeLateAnswer() throws IOException {
    assertThat(received(true)).isEqualTo(LENGTH);
  }

  @Test
  void aClientThatClosesAfterTheAnswerGetsItToo() throws IOException {
    assertThat(received(false)).isEqualTo(LENGTH);
  }

  /** Both pipes can be read at the same poll: the first event closes the other's descriptor. */
  @Test
  void whatIsRegisteredWithinAPollGetsNoEventOfThatPoll() throws Exception {
    var handlers = MendedEpollHandler.factory(EpollIoHandler.newFactory());
    var group = new MultiThreadIoEventLoopGroup(1, handlers);
    IoEventLoop loop = group.next();
    CompletableFuture<Boolean> hadOctets = new CompletableFuture<>();
    try (Pipe one = Pipe.open();
        Pipe other = Pipe.open()) {
      one.onEvent(loop, () -> replace(other, one, loop, hadOctets));
      other.onEvent(loop, () -> replace(one, other, loop, hadOctets));
      loop.submit(
              () -> {
                one.write();
                other.write();
                return null;
              })
          .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
      assertThat(hadOctets.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
          .as("the event is its own")
          .isTrue();
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(PATIENCE_MILLIS);
    }
  }

  /** Closes two pipes and opens a third, which gets octets when the events have been handled. */
  private static void replace(
      Pipe pending, Pipe handled, IoEventLoop loop, CompletableFuture<Boolean> hadOctets) {
    try {
      pending.close();
      Pipe third = Pipe.open();
      third.onEvent(
          loop,
          () -> {
            hadOctets.complete(third.written);
            third.close();
          });
      handled.close();
      loop.execute(third::write);
    } catch (IOException e) {
      hadOctets.completeExceptionally(e);
    }
  }

  /** What is closed within the poll that registered it was never waited for. */
  @Test
  void whatIsRegisteredWithinAPollIsWaitedForUnlessItIsClosed() throws Exception {
    var handlers = MendedEpollHandler.factory(EpollIoHandler.newFactory());
    var group = new MultiThreadIoEventLoopGroup(1, handlers);
    IoEventLoop loop = group.next();
    CompletableFuture<String> event = new CompletableFuture<>();
    try (Pipe first = Pipe.open();
        Pipe brief = Pipe.open();
        Pipe lasting = Pipe.open()) {
      brief.write();
      lasting.write();
      first.onEvent(loop, () -> succeed(first, brief, lasting, loop, event));
      loop.submit(first::write).get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
      assertThat(event.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)).isEqualTo("of the open one");
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(PATIENCE_MILLIS);
    }
  }

  /** Closes the first and has two others waited for, of which one is closed at once. */
  private static void succeed(
      Pipe first, Pipe brief, Pipe lasting, IoEventLoop loop, CompletableFuture<String> event) {
    brief.onEvent(loop, () -> event.complete("of the closed one"));
    lasting.onEvent(
        loop,
        () -> {
          lasting.close();
          event.complete("of the open one");
        });
    brief.close();
    first.close();
  }

  @Test
  void changingThreadsIsLeftToEpoll() {
    IoHandlerFactory epoll = EpollIoHandler.newFactory();
    assertThat(MendedEpollHandler.factory(epoll).isChangingThreadSupported())
        .isEqualTo(epoll.isChangingThreadSupported());
  }

  /** How many octets of a late answer arrive at a client that waits patiently. */
  private static int received(boolean halfClose) throws IOException {
    var handlers = MendedEpollHandler.factory(EpollIoHandler.newFactory());
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

  /** A pipe whose end to read from is registered. Confined to its loop once it is. */
  private static final class Pipe implements EpollIoHandle {

    private final FileDescriptor in;
    private final FileDescriptor out;
    private @Nullable Runnable onEvent;
    private @Nullable IoRegistration registration;
    private boolean written;

    private Pipe(FileDescriptor[] ends) {
      in = ends[0];
      out = ends[1];
    }

    static Pipe open() throws IOException {
      return new Pipe(FileDescriptor.pipe());
    }

    void onEvent(IoEventLoop loop, Runnable reaction) {
      onEvent = reaction;
      loop.register(this)
          .addListener(
              registered -> {
                registration = (IoRegistration) registered.getNow();
                registration.submit(EpollIoOps.EPOLLIN);
              });
    }

    void write() {
      try {
        written = true;
        out.write(ByteBuffer.allocateDirect(1), 0, 1);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public FileDescriptor fd() {
      return in;
    }

    @Override
    public void handle(IoRegistration own, IoEvent event) {
      Objects.requireNonNull(onEvent).run();
    }

    /** Again without effect. */
    @Override
    public void close() {
      if (in.isOpen()) {
        try {
          if (registration != null) {
            registration.cancel();
          }
          in.close();
          out.close();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }
}
