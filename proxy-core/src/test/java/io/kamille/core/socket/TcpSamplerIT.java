package io.kamille.core.socket;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.socket.TcpSamples.Change;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real sockets; rounds are asked for and not waited for. */
class TcpSamplerIT {

  private static final SendBuffer SYSTEM = new SendBuffer(0, 0, 64 << 10, 128 << 10);
  private static final SendBuffer SMALL = new SendBuffer(0, 16 << 10, 16 << 10, 32 << 10);
  private static final int MUCH = 4 << 20;
  private static final long REGION_BYTES = 1 << 20;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private final EventLoop loop = loops.next();
  private final Told told = new Told();
  private final TcpSampler sampler = new TcpSampler(loop, told, SYSTEM, System::nanoTime);
  private ServerSocket server;
  private Channel channel;
  private Socket client;
  private TunableChannel tunable;
  private @Nullable ServerSocketChannel local;
  @TempDir private Path directory;

  private static final class Told implements SendBufferAdvisor {
    private final List<TcpSamples> samples = new ArrayList<>();
    private Beginning beginning = new Beginning(SYSTEM, 0);
    private long seenBytes;

    @Override
    public Beginning beginning(InetAddress client) {
      return beginning;
    }

    @Override
    public void seen(long partBytes) {
      seenBytes += partBytes;
    }

    @Override
    public void take(TcpSamples samples) {
      this.samples.add(samples);
    }
  }

  @BeforeEach
  void connect() throws Exception {
    sampler.set(true, Duration.ofHours(1), SYSTEM, REGION_BYTES);
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    open();
  }

  private void open() throws Exception {
    channel =
        new Bootstrap()
            .group(loop)
            .channel(EpollSocketChannel.class)
            .handler(new ChannelInboundHandlerAdapter())
            .connect(server.getLocalSocketAddress())
            .sync()
            .channel();
    client = server.accept();
    tunable = onLoop(() -> sampler.opened(channel, client.getInetAddress(), "HTTP/1.1"));
  }

  @AfterEach
  void stop() throws IOException {
    channel.close().syncUninterruptibly();
    client.close();
    server.close();
    if (local != null) {
      local.close();
    }
    loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void aConnectionThatWroteIsLookedAtOnceUnlessOctetsWait() throws Exception {
    write(100);
    client.getInputStream().readNBytes(100);
    round();
    assertThat(told.samples.getLast().size()).isEqualTo(1);
    assertThat(told.samples.getLast().sample(0).segmentsOut()).isPositive();
    giveBack();
    round();
    round();
    assertThat(told.samples.size()).isLessThanOrEqualTo(2);
  }

  @Test
  void whatWaitsIsCountedWhereItLies() throws Exception {
    apply(SMALL);
    write(MUCH);
    round();
    TcpSamples rows = told.samples.getLast();
    assertThat(rows.waiting(0).bufferedBytes())
        .isEqualTo(MUCH - taken(rows.sample(0)))
        .isGreaterThan(MUCH / 2);
  }

  @Test
  void whatIsKeptBackInFrontOfTheChannelIsCountedToo() throws Exception {
    var keptBack = Unpooled.wrappedBuffer(new byte[700]).skipBytes(100);
    tunable.keptBack(action -> action.accept(keptBack));
    write(100);
    client.getInputStream().readNBytes(100);
    round();
    assertThat(told.samples.getLast().waiting(0).bufferedBytes()).isEqualTo(600);
  }

  @Test
  void connectionsThatEndBetweenTwoBatchesOfARoundDoNotEndTheRounds() throws Exception {
    sampler.start(Duration.ofHours(1), 1);
    onLoop(
        () -> {
          var many = new ArrayList<TunableChannel>();
          for (int i = 0; i < 300; i++) {
            many.add(sampler.opened(channel, client.getInetAddress(), "HTTP/1.1"));
          }
          many.forEach(sampler::writes);
          sampler.round();
          channel.close();
          many.forEach(sampler::closed);
          return many;
        });
    loop.schedule(() -> {}, 10, TimeUnit.MILLISECONDS).sync();
    assertThat(told.samples).hasSize(2);
    giveBack();
    open();
    write(100);
    round();
    assertThat(told.samples).hasSize(3);
  }

  private static long taken(TcpSample sample) {
    return sample.acknowledgedBytes() + sample.inFlightBytes() + sample.unsentBytes();
  }

  @Test
  void theMarkBoundsWhatTheKernelTakesForAClientThatDoesNotRead() throws Exception {
    apply(SMALL);
    write(MUCH);
    round();
    assertThat(told.samples.getLast().sample(0).unsentBytes()).isLessThan(128 << 10);
  }

  @Test
  void aSizeIsFixedAndGivenBack() throws Exception {
    apply(new SendBuffer(100_000, 16 << 10, 16 << 10, 32 << 10));
    assertThat(onLoop(tunable::grantedBytes)).isEqualTo(100_000);
    apply(SYSTEM);
    assertThat(onLoop(tunable::grantedBytes)).isZero();
    assertThat(onLoop(tunable::refused)).isNull();
  }

  @Test
  void aSizeBeyondTheKernelsLimitIsWhatTheKernelGrants() throws Exception {
    apply(new SendBuffer(1 << 30, 0, 16 << 10, 32 << 10));
    assertThat(onLoop(tunable::grantedBytes)).isLessThan(1 << 30).isPositive();
  }

  /**
   * A Unix-domain socket has no options of TCP: so refuses a kernel whose container forbids them.
   */
  @Test
  void anOptionTheKernelRefusesIsNamedAndTheRestHolds() throws Exception {
    EpollDomainSocketChannel socket = openLocal();
    TunableChannel refusing =
        onLoop(() -> sampler.opened(socket, client.getInetAddress(), "HTTP/1.1"));
    sampler.apply(List.of(new Change(refusing, new SendBuffer(50_000, 4096, 8 << 10, 16 << 10))));
    assertThat(onLoop(refusing::grantedBytes)).isEqualTo(50_000);
    assertThat(socket.config().getWriteBufferWaterMark().high()).isEqualTo(16 << 10);
    assertThat(onLoop(refusing::refused)).startsWith("TCP_NOTSENT_LOWAT: ");

    sampler.apply(List.of(new Change(refusing, new SendBuffer(60_000, 4096, 8 << 10, 16 << 10))));
    assertThat(onLoop(refusing::grantedBytes)).isEqualTo(60_000);
    assertThat(onLoop(refusing::refused)).startsWith("TCP_NOTSENT_LOWAT: ");
    socket.close().sync();
  }

  @Test
  void aConnectionOfWhichTheKernelTellsNothingIsPassedOver() throws Exception {
    EpollDomainSocketChannel socket = openLocal();
    TunableChannel silent =
        onLoop(() -> sampler.opened(socket, client.getInetAddress(), "HTTP/1.1"));
    onLoop(
        () -> {
          silent.writes();
          return silent;
        });
    round();
    assertThat(told.samples).isEmpty();
    assertThat(onLoop(silent::congestionControl)).isEqualTo(CongestionControl.OTHER);
    socket.close().sync();
  }

  private EpollDomainSocketChannel openLocal() throws Exception {
    Path path = directory.resolve("local");
    local = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    local.bind(UnixDomainSocketAddress.of(path));
    return (EpollDomainSocketChannel)
        new Bootstrap()
            .group(loop)
            .channel(EpollDomainSocketChannel.class)
            .handler(new ChannelInboundHandlerAdapter())
            .connect(new DomainSocketAddress(path.toFile()))
            .sync()
            .channel();
  }

  @Test
  void lowerWatermarksHoldAtOnce() throws Exception {
    onLoop(
        () -> {
          channel
              .config()
              .setWriteBufferWaterMark(new io.netty.channel.WriteBufferWaterMark(MUCH, 2 * MUCH));
          return tunable.sendBuffer();
        });
    write(MUCH);
    assertThat(channel.isWritable()).isTrue();
    apply(SMALL);
    assertThat(channel.isWritable()).isFalse();
    client.getInputStream().readNBytes(MUCH);
    assertThat(onLoop(() -> channel.unsafe().outboundBuffer().totalPendingWriteBytes())).isZero();
  }

  @Test
  void whoKnewAConnectionHearsThatItIsClosed() throws Exception {
    write(100);
    round();
    giveBack();
    channel.close().sync();
    onLoop(
        () -> {
          tunable.closed();
          return tunable;
        });
    round();
    assertThat(told.samples.getLast().isGone(0)).isTrue();
    assertThat(told.samples.getLast().channel(0)).isSameAs(tunable);
  }

  @Test
  void ofConnectionsThatEndBeforeAnyLookNothingIsKept() throws Exception {
    for (int i = 0; i < 20; i++) {
      write(100);
      close();
      open();
    }
    write(100);
    assertThat(onLoop(sampler::dueForLooks)).isLessThanOrEqualTo(2);
  }

  @Test
  void anAdvisorThatIsLateGetsNoMore() throws Exception {
    for (int i = 0; i < 5; i++) {
      write(MUCH);
      round();
    }
    assertThat(told.samples).hasSize(2);
  }

  @Test
  void whileNothingIsTunedAConnectionThatWritesIsGivenBack() throws Exception {
    apply(SMALL);
    round();
    sampler.set(false, Duration.ofHours(1), SYSTEM, REGION_BYTES);
    write(100);
    assertThat(onLoop(tunable::sendBuffer)).isEqualTo(SYSTEM);
  }

  @Test
  void whatIsDueWhenTuningEndsIsGivenBackAtItsLastLook() throws Exception {
    apply(SMALL);
    sampler.set(false, Duration.ofHours(1), SYSTEM, REGION_BYTES);
    round();
    assertThat(onLoop(tunable::sendBuffer)).isEqualTo(SYSTEM);
  }

  @Test
  void aConnectionThatWroteBeforeTuningBeganIsLookedAtThoughItWritesNoMore() throws Exception {
    sampler.set(false, Duration.ofHours(1), SYSTEM, REGION_BYTES);
    write(MUCH);
    sampler.connections(action -> action.accept(tunable));
    sampler.set(true, Duration.ofHours(1), SYSTEM, REGION_BYTES);
    round();
    assertThat(told.samples.getLast().channel(0)).isSameAs(tunable);
  }

  @Test
  void aConnectionThatHasNotWrittenWhenTuningBeginsWaitsForItsFirstWrite() throws Exception {
    sampler.set(false, Duration.ofHours(1), SYSTEM, REGION_BYTES);
    sampler.connections(action -> action.accept(tunable));
    sampler.set(true, Duration.ofHours(1), SYSTEM, REGION_BYTES);
    round();
    assertThat(told.samples).isEmpty();
  }

  @Test
  void aConnectionBeginsWithWhatItsAdvisorSaysWhenItWrites() throws Exception {
    told.beginning =
        new SendBufferAdvisor.Beginning(new SendBuffer(65_536, 32 << 10, 32 << 10, 64 << 10), 7);
    assertThat(onLoop(tunable::grantedBytes)).isZero();
    write(100);
    assertThat(onLoop(tunable::grantedBytes)).isEqualTo(65_536);
  }

  @Test
  void whatWasSetAsideIsGivenBackOnceWithTheFirstLookOrTheEnd() throws Exception {
    told.beginning = new SendBufferAdvisor.Beginning(SYSTEM, 7);
    write(100);
    round();
    giveBack();
    close();
    assertThat(told.seenBytes).isEqualTo(7);
    open();
    write(100);
    close();
    assertThat(told.seenBytes).isEqualTo(14);
  }

  private void close() throws Exception {
    channel.close().sync();
    client.close();
    onLoop(
        () -> {
          tunable.closed();
          return tunable;
        });
  }

  private void write(int octets) throws Exception {
    onLoop(
        () -> {
          channel.writeAndFlush(Unpooled.directBuffer(octets).writeZero(octets));
          tunable.writes();
          return octets;
        });
  }

  private void apply(SendBuffer buffer) throws Exception {
    sampler.apply(List.of(new Change(tunable, buffer)));
    onLoop(() -> buffer);
  }

  private void round() throws Exception {
    onLoop(
        () -> {
          sampler.sampleAllDue();
          return sampler;
        });
  }

  private void giveBack() throws Exception {
    told.samples.getLast().giveBack();
    onLoop(() -> sampler);
  }

  private <T> T onLoop(Callable<T> question) throws Exception {
    return loop.submit(question).get(60, TimeUnit.SECONDS);
  }
}
