package io.kamille.core.loop;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A fixed number of loops over native epoll. Any thread may ask; start and stop are the owner's.
 */
public final class LoopGroup implements AutoCloseable {

  private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

  private final MultiThreadIoEventLoopGroup group;
  private final List<EventLoop> loops = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();

  /**
   * Starts the loops.
   *
   * @param count how many, at least one
   * @throws IllegalStateException if this machine has no native epoll
   */
  public LoopGroup(int count) {
    if (!Epoll.isAvailable()) {
      throw new IllegalStateException("native epoll is not available", Epoll.unavailabilityCause());
    }
    group =
        new MultiThreadIoEventLoopGroup(
            count,
            new DefaultThreadFactory("kamille-loop"),
            HalfCloseIoHandler.factory(EpollIoHandler.newFactory()));
    for (EventExecutor loop : group) {
      loops.add((EventLoop) loop);
      threads.add(loop.submit(Thread::currentThread).syncUninterruptibly().getNow());
    }
  }

  /** Processor time that all loops have used, in nanoseconds. Any thread. */
  public long cpuNanos() {
    long sum = 0;
    for (int i = 0; i < threads.size(); i++) {
      sum += cpuNanos(i);
    }
    return sum;
  }

  /** Processor time that one loop has used, in nanoseconds. Any thread. */
  public long cpuNanos(int index) {
    long id = threads.get(index).threadId();
    return Math.max(0, ManagementFactory.getThreadMXBean().getThreadCpuTime(id));
  }

  /** The name of a loop's thread. */
  public String name(int index) {
    return threads.get(index).getName();
  }

  /** Makes sockets, toward origins, of the kind these loops serve. */
  public static ChannelFactory<? extends Channel> sockets() {
    return EpollSocketChannel::new;
  }

  /** The loops, in a fixed order. */
  public List<EventLoop> loops() {
    return List.copyOf(loops);
  }

  /** Stops all loops and waits for them, for a few seconds at most. */
  @Override
  public void close() {
    group
        .shutdownGracefully(0, STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(STOP_LIMIT.toMillis());
  }
}
