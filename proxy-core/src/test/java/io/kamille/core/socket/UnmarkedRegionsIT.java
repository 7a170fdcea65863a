package io.kamille.core.socket;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.socket.TcpSamples.Change;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The mark on unsent octets of real sockets, before, during and after a region. */
class UnmarkedRegionsIT {

  private static final SendBuffer SYSTEM = new SendBuffer(0, 0, 64 << 10, 128 << 10);
  private static final int MARK = 16 << 10;
  private static final SendBuffer MARKED = new SendBuffer(0, MARK, 16 << 10, 32 << 10);
  private static final int MIB = 1 << 20;
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_NOTSENT_LOWAT = 25;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private final EventLoop loop = loops.next();
  private final TcpSampler sampler = new TcpSampler(loop, new Silent(), SYSTEM, System::nanoTime);
  private final List<Socket> clients = new ArrayList<>();
  private ServerSocket server;

  /** One connection of the loop. */
  private record Connection(Channel channel, TunableChannel tunable) {}

  /** Decides nothing. */
  private static final class Silent implements SendBufferAdvisor {
    @Override
    public Beginning beginning(InetAddress client) {
      return new Beginning(MARKED, 0);
    }

    @Override
    public void seen(long partBytes) {}

    @Override
    public void take(TcpSamples samples) {
      samples.giveBack();
    }
  }

  @BeforeEach
  void listen() throws IOException {
    server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    allow(2 * MIB);
  }

  @AfterEach
  void stop() throws IOException {
    for (Socket client : clients) {
      client.close();
    }
    server.close();
    loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void aLargeRegionGoesWithoutAMarkAndWhatFollowsHasItAgain() throws Exception {
    Connection one = open();
    assertThat(mark(one)).isEqualTo(MARK);
    begin(one, MIB);
    assertThat(mark(one)).isZero();
    assertThat(onLoop(one.tunable::isUnmarked)).isTrue();
    end(one);
    assertThat(mark(one)).isEqualTo(MARK);
  }

  @Test
  void aSmallRegionKeepsTheMark() throws Exception {
    Connection one = open();
    begin(one, 255 << 10);
    assertThat(mark(one)).isEqualTo(MARK);
  }

  @Test
  void aMarkThatIsSetMeanwhileHoldsAfterTheRegion() throws Exception {
    Connection one = open();
    begin(one, MIB);
    apply(one, new SendBuffer(0, 4 << 10, 8 << 10, 16 << 10));
    assertThat(mark(one)).isZero();
    end(one);
    assertThat(mark(one)).isEqualTo(4 << 10);
  }

  @Test
  void beyondTheAllowanceARegionKeepsTheMark() throws Exception {
    begin(open(), MIB);
    begin(open(), MIB);
    Connection third = open();
    begin(third, MIB);
    assertThat(mark(third)).isEqualTo(MARK);
  }

  @Test
  void aRegionThatHasLeftCountsUntilItsConnectionIsLookedAtOrClosed() throws Exception {
    Connection first = open();
    begin(first, MIB);
    end(first);
    Connection second = open();
    begin(second, MIB);
    Connection third = open();
    begin(third, MIB);
    assertThat(mark(third)).isEqualTo(MARK);
    round();
    begin(third, MIB);
    assertThat(mark(third)).isZero();
    close(second);
    Connection fourth = open();
    begin(fourth, MIB);
    assertThat(mark(fourth)).isZero();
  }

  @Test
  void octetsThatTheSocketHoldsCountWithTheRegion() throws Exception {
    Connection one = open();
    begin(one, MIB);
    onLoop(() -> one.channel.writeAndFlush(Unpooled.directBuffer(MIB).writeZero(MIB)));
    end(one);
    begin(one, 2 * MIB);
    assertThat(mark(one)).isEqualTo(MARK);
  }

  @Test
  void whenLessIsAllowedTheLargestGetTheirMarkBackFirst() throws Exception {
    Connection small = open();
    begin(small, MIB / 2);
    Connection large = open();
    begin(large, MIB);
    allow(MIB);
    assertThat(mark(large)).isEqualTo(MARK);
    assertThat(mark(small)).isZero();
    allow(0);
    assertThat(mark(small)).isEqualTo(MARK);
  }

  private void allow(long bytes) throws IOException {
    sampler.set(true, Duration.ofHours(1), MARKED, bytes);
  }

  private Connection open() throws Exception {
    Channel channel =
        new Bootstrap()
            .group(loop)
            .channel(EpollSocketChannel.class)
            .handler(new ChannelInboundHandlerAdapter())
            .connect(server.getLocalSocketAddress())
            .sync()
            .channel();
    Socket client = server.accept();
    clients.add(client);
    TunableChannel tunable =
        onLoop(() -> sampler.opened(channel, client.getInetAddress(), "HTTP/1.1"));
    var connection = new Connection(channel, tunable);
    apply(connection, new SendBuffer(0, MARK / 2, 16 << 10, 32 << 10));
    apply(connection, MARKED);
    return connection;
  }

  private void close(Connection connection) throws Exception {
    connection.channel.close().sync();
    onLoop(
        () -> {
          connection.tunable.closed();
          return connection;
        });
  }

  private void begin(Connection connection, long bytes) throws Exception {
    onLoop(
        () -> {
          connection.tunable.regionBegins(bytes);
          return connection;
        });
  }

  private void end(Connection connection) throws Exception {
    onLoop(
        () -> {
          connection.tunable.regionsEnd();
          connection.tunable.writes();
          return connection;
        });
  }

  private void apply(Connection connection, SendBuffer buffer) throws Exception {
    sampler.apply(List.of(new Change(connection.tunable, buffer)));
    onLoop(() -> buffer);
  }

  private void round() throws Exception {
    onLoop(
        () -> {
          sampler.sampleAllDue();
          return sampler;
        });
  }

  private int mark(Connection connection) throws Exception {
    return onLoop(
        () ->
            Objects.requireNonNull(connection.tunable.socket())
                .getIntOpt(IPPROTO_TCP, TCP_NOTSENT_LOWAT));
  }

  private <T> T onLoop(Callable<T> question) throws Exception {
    return loop.submit(question).get(60, TimeUnit.SECONDS);
  }
}
