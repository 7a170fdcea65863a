package io.kamille.admin.tuning;

import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.socket.SendBuffer;
import io.kamille.core.socket.TcpSampler;
import io.kamille.core.socket.TunableChannel;
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
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a period of tuning costs with so many active connections. Real sockets whose clients do not
 * read; the clock is moved by hand.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class TunerRoundBench {

  private static final int CONTENT_BYTES = 32 << 10;
  private static final int RECEIVE_BYTES = 4 << 10;
  private static final int ROWS = 128;
  private static final long SECOND = 1_000_000_000L;

  @Param({"128", "9000"})
  public int connections;

  @Param({"KERNEL", "EQUATION"})
  public TuningPolicy policy = TuningPolicy.KERNEL;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
  private final EventLoop loop = loops.next();
  private final List<Channel> servers = new ArrayList<>();
  private final List<SocketChannel> clients = new ArrayList<>();
  private final AtomicLong nowNanos = new AtomicLong();
  private BufferTuner tuner = tuner(TuningSettings.DEFAULT);
  private TcpSampler sampler = new TcpSampler(loop, tuner, system(), nowNanos::get);

  private BufferTuner tuner(TuningSettings settings) {
    return new BufferTuner(
        settings,
        system(),
        new KernelLimits(2 << 20, 2 << 20),
        () -> 0,
        new TuningHistograms(new MetricRegistry()),
        nowNanos::get);
  }

  private static SendBuffer system() {
    return new SendBuffer(0, 0, 64 << 10, 128 << 10);
  }

  /** Connects, and lets each connection write what its client does not read. */
  @Setup
  public void connect() throws Exception {
    tuner = tuner(new TuningSettings(policy, 256L << 20, Duration.ofHours(1)));
    sampler = tuner.sampler(loop);
    tuner.announceTo(_ -> {});
    try (var listener = ServerSocketChannel.open()) {
      listener.setOption(StandardSocketOptions.SO_RCVBUF, RECEIVE_BYTES);
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      for (int i = 0; i < connections; i++) {
        connect(listener);
      }
    }
    for (int looked = 0; looked < 3 * connections; looked += ROWS) {
      looksAndPass();
    }
  }

  private void connect(ServerSocketChannel listener) throws Exception {
    Channel channel =
        new Bootstrap()
            .group(loop)
            .channel(EpollSocketChannel.class)
            .handler(new ChannelInboundHandlerAdapter())
            .connect(listener.getLocalAddress())
            .sync()
            .channel();
    servers.add(channel);
    SocketChannel client = listener.accept();
    clients.add(client);
    loop.submit(
            () -> {
              TunableChannel tunable =
                  sampler.opened(channel, InetAddress.getLoopbackAddress(), "HTTP/1.1");
              channel.writeAndFlush(Unpooled.directBuffer(CONTENT_BYTES).writeZero(CONTENT_BYTES));
              tunable.writes();
            })
        .sync();
  }

  /** 128 looks by the loop, what the tuner's thread makes of them, and the hand-over. */
  @Benchmark
  public void looks() throws InterruptedException {
    nowNanos.addAndGet(SECOND);
    loop.submit(sampler::lookAtAllDue).sync();
    tuner.absorb();
  }

  /** What follows from 128 looks or, if sizes are ours, from all connections. */
  @Benchmark
  public void looksAndPass() throws InterruptedException {
    looks();
    tuner.pass();
  }

  @TearDown
  public void close() throws IOException {
    for (int i = 0; i < servers.size(); i++) {
      servers.get(i).close().syncUninterruptibly();
      clients.get(i).close();
    }
    loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
