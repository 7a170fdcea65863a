package io.kamille.core.loop;

import io.kamille.core.metric.MetricRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * How soon a loop that pauses between its polls does what does not come from a socket: a task of
 * another thread, a timer, its end. A loop with an octet that goes to and fro on it is in a pause
 * nearly always; an unpaced one never sleeps then.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class PacedLoopBench {

  private static final long TIMER_MICROS = 1000;

  /** Microseconds between two polls; 0 for off. */
  @Param({"0", "100", "500", "1000", "5000", "10000"})
  int interval;

  /** Whether an octet goes to and fro on the loop; if not, an unpaced loop sleeps meanwhile. */
  @Param({"true", "false"})
  boolean isBusy;

  private LoopGroup loops = new LoopGroup(1);
  private volatile boolean hasRun;
  private long waits = 1;

  @Setup(Level.Iteration)
  public void start() throws InterruptedException {
    loops.close();
    var pace = interval == 0 ? PaceSettings.OFF : PaceSettings.fixed(interval * 1000L);
    loops = new LoopGroup(1, pace, new MetricRegistry());
    if (isBusy) {
      playBall(loops.loops().getFirst());
    }
  }

  private static void playBall(EventLoop loop) throws InterruptedException {
    Channel server =
        new ServerBootstrap()
            .group(loop)
            .channel(EpollServerSocketChannel.class)
            .childHandler(new Player())
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .sync()
            .channel();
    new Bootstrap()
        .group(loop)
        .channel(EpollSocketChannel.class)
        .handler(new Player())
        .connect(server.localAddress())
        .sync()
        .channel()
        .writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1}));
  }

  /** Sends back what comes. */
  private static final class Player extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext context, Object ball) {
      context.writeAndFlush(ball, context.voidPromise());
    }
  }

  @TearDown(Level.Iteration)
  public void stop() {
    loops.close();
  }

  /** Long enough for the loop to be in a pause again, and at another place in it each time. */
  @Setup(Level.Invocation)
  public void letItPause() {
    waits = waits * 31 % 97;
    LockSupport.parkNanos(200_000 + waits * 10_000);
  }

  /** From the moment a task is given until it has run. */
  @Benchmark
  public void task() {
    hasRun = false;
    loops.loops().getFirst().execute(() -> hasRun = true);
    awaitRun();
  }

  /** A timer of a millisecond, from the moment it is set until it has run. */
  @Benchmark
  public void timer() {
    hasRun = false;
    loops.loops().getFirst().schedule(() -> hasRun = true, TIMER_MICROS, TimeUnit.MICROSECONDS);
    awaitRun();
  }

  private void awaitRun() {
    while (!hasRun) {
      Thread.onSpinWait();
    }
  }

  /** From the wish to end until the loop has ended. */
  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @Warmup(iterations = 5)
  @Measurement(iterations = 20)
  public void shutdown() {
    loops.close();
  }
}
