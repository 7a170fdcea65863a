package io.kamille.core.origin.check;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.HealthCheck;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.check.HttpCheck.Verdict;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.OriginTls;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether origins are well, all of the appliance on one loop of its own, and tells their
 * {@link OriginHealth}. Any thread.
 */
public final class HealthChecker implements AutoCloseable {

  /*
   * A check of an origin begins some time after its last one ended, so that a slow origin has one
   * check at a time. Jitter and a first check at a random moment keep origins, and many proxies,
   * out of step. At most so many checks run at a time; others wait their turn. The loop starts with
   * the first origin that is to be checked. A check that fails for want of what is ours says
   * nothing of its origin: else all of them would be out while our descriptors are used up.
   */
  static final int MOST_AT_A_TIME = 64;
  private static final double JITTER = 0.1;

  public static final MetricDescriptor PASSED =
      MetricDescriptor.counter(
          "kamille_upstream_checks_passed_total", "Checks that found an origin well.");

  public static final MetricDescriptor FAILED =
      MetricDescriptor.counter(
          "kamille_upstream_checks_failed_total",
          "Checks that found an origin not well, or did not find it.");

  /**
   * An origin, and how its upstream asks it.
   *
   * @param tls null if it speaks none
   */
  public record Target(
      Origin origin, UpstreamSettings settings, @Nullable OriginTls tls, UpstreamMetrics metrics) {

    HealthCheck check() {
      return settings.health().check();
    }
  }

  private static final System.Logger LOG = System.getLogger("kamille.upstream");

  private final Connector connector;
  private final WallClock clock;
  private final LongAdder passed = new LongAdder();
  private final LongAdder failed = new LongAdder();

  @GuardedBy("this")
  private @Nullable EventLoopGroup group;

  @GuardedBy("this")
  private boolean isClosed;

  // Confined to the loop.
  private final Map<Origin, Checks> checks = new HashMap<>();
  private final Queue<Checks> due = new ArrayDeque<>();
  private int underWay;

  /**
   * Checks nothing yet.
   *
   * @param connector of the kind that a loop over epoll serves
   */
  public HealthChecker(Connector connector, WallClock clock, MetricRegistry registry) {
    this.connector = connector;
    this.clock = clock;
    registry.counting(PASSED, passed::sum);
    registry.counting(FAILED, failed::sum);
  }

  /** Checks these from now on, as far as their settings ask for it, and no others. */
  public synchronized void follow(List<Target> targets) {
    List<Target> checked = targets.stream().filter(target -> target.check().isOn()).toList();
    if (group == null && !checked.isEmpty() && !isClosed) {
      group =
          new MultiThreadIoEventLoopGroup(
              1, new DefaultThreadFactory("kamille-checks", true), LoopGroup.epoll());
    }
    if (group != null) {
      EventLoop loop = group.next();
      loop.execute(() -> follow(checked, loop));
    }
  }

  private void follow(List<Target> targets, EventLoop loop) {
    Map<Origin, Checks> left = new HashMap<>(checks);
    for (Target target : targets) {
      Checks present = left.remove(target.origin());
      if (present == null) {
        Checks made = new Checks(target, loop);
        checks.put(target.origin(), made);
        made.after(random(target.check().interval().toNanos()));
      } else {
        present.target = target;
      }
    }
    checks.keySet().removeAll(left.keySet());
    due.removeAll(Set.copyOf(left.values()));
    left.values().forEach(Checks::end);
  }

  /** Not called by a check that ends: one after the other may end as soon as it begins. */
  private void beginDue() {
    while (underWay < MOST_AT_A_TIME && !due.isEmpty()) {
      due.remove().begin();
    }
  }

  private static long random(long nanos) {
    return (long) (nanos * ThreadLocalRandom.current().nextDouble());
  }

  /** Closing again does nothing. */
  @Override
  public synchronized void close() {
    isClosed = true;
    EventLoopGroup ending = group;
    group = null;
    if (ending != null) {
      EventLoop loop = ending.next();
      loop.execute(() -> end(ending, loop));
    }
  }

  /**
   * A loop that ends opens no connection: a check would take that for the origin's fault. Without a
   * quiet period Netty may end a loop before it has closed its channels.
   */
  private void end(EventLoopGroup ending, EventLoop loop) {
    follow(List.of(), loop);
    ending.shutdownGracefully(1, 1_000, TimeUnit.MILLISECONDS);
  }

  /**
   * On a connection that was opened to see whether it can be, nothing is said but for whom it is.
   */
  private static final class Closing extends ChannelInboundHandlerAdapter {

    private final ProxyAnnouncement announcement;

    Closing(ProxyAnnouncement announcement) {
      this.announcement = announcement;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      if (announcement != ProxyAnnouncement.OFF) {
        context.writeAndFlush(announcement.ofNobody(context.alloc()));
      }
      context.close();
    }
  }

  /** The checks of one origin, one after the other. Confined to the loop. */
  private final class Checks {

    private final EventLoop loop;
    private Target target;
    private int passedInARow;
    private int failedInARow;
    private boolean isEnded;
    private boolean isUnderWay;
    private long nextNanos;
    private Runnable stop = () -> {};

    Checks(Target target, EventLoop loop) {
      this.target = target;
      this.loop = loop;
    }

    private void after(long delayNanos) {
      nextNanos = clock.nanos() + delayNanos;
      schedule(delayNanos, this::takeTurn);
    }

    private Future<?> schedule(long delayNanos, Runnable action) {
      return loop.schedule(action, delayNanos, TimeUnit.NANOSECONDS);
    }

    private void takeTurn() {
      if (isEnded) {
        return;
      }
      if (underWay < MOST_AT_A_TIME) {
        begin();
      } else {
        due.add(this);
      }
    }

    private void begin() {
      underWay++;
      isUnderWay = true;
      HealthCheck check = target.check();
      Future<?> limit =
          schedule(
              check.timeout().toNanos(),
              () ->
                  over(
                      "no answer in " + check.timeout().toMillis() + " ms",
                      check.kind() == HealthCheck.Protocol.TCP
                          ? Verdict.UNREACHABLE
                          : Verdict.FAILED));
      stop = () -> limit.cancel(false);
      if (check.kind() == HealthCheck.Protocol.TCP) {
        connect(check);
        return;
      }
      HttpCheck begun =
          HttpCheck.begin(
              target.origin(), target.settings(), target.tls(), connector, loop, clock, this::over);
      stop =
          () -> {
            limit.cancel(false);
            begun.stop();
          };
      if (!isUnderWay) {
        stop.run();
      }
    }

    private void connect(HealthCheck check) {
      InetSocketAddress address = target.origin().address();
      if (address == null) {
        over("no address is known for " + target.origin().host(), Verdict.UNREACHABLE);
        return;
      }
      Bootstrap bootstrap =
          new Bootstrap()
              .group(loop)
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) check.timeout().toMillis())
              .handler(new Closing(target.settings().connection().proxyProtocol()));
      connector
          .connect(bootstrap, address)
          .addListener(opened -> loop.execute(() -> connected(opened.cause())));
    }

    private void connected(@Nullable Throwable cause) {
      if (cause == null) {
        over("", Verdict.PASSED);
      } else {
        // Without a socket nobody has asked the origin.
        Verdict verdict = cause instanceof ChannelException ? Verdict.NONE : Verdict.UNREACHABLE;
        over(String.valueOf(cause.getMessage()), verdict);
      }
    }

    /** Said once for each check, or more often: the first time counts. */
    private void over(String trouble, Verdict verdict) {
      if (!isUnderWay) {
        return;
      }
      free();
      HealthCheck check = target.check();
      double jitter = 1 - JITTER + 2 * JITTER * ThreadLocalRandom.current().nextDouble();
      after((long) (check.interval().toNanos() * jitter));
      long now = clock.nanos();
      target.origin().checked(new Origin.Checked(trouble, now, nextNanos));
      switch (verdict) {
        case PASSED -> pass(now);
        case FAILED -> fail(trouble, false, now);
        case UNREACHABLE -> fail(trouble, true, now);
        case NONE -> {}
      }
    }

    private void free() {
      isUnderWay = false;
      stop.run();
      underWay--;
      loop.execute(HealthChecker.this::beginDue);
    }

    private void pass(long now) {
      passed.increment();
      failedInARow = 0;
      passedInARow++;
      Origin origin = target.origin();
      if (passedInARow >= target.check().rise() && origin.health().checksPassed(now)) {
        LOG.log(Level.INFO, "{0} is in again: its checks pass", origin);
      }
    }

    private void fail(String trouble, boolean isUnreachable, long now) {
      failed.increment();
      passedInARow = 0;
      failedInARow++;
      Origin origin = target.origin();
      boolean isEnough = failedInARow >= target.check().fall() || !origin.health().isIn();
      String why = "its check failed: " + trouble;
      if (isEnough && origin.health().checksFailed(why, isUnreachable, now)) {
        target.metrics().counters(loop, List.of(origin)).ejected(0);
        LOG.log(Level.WARNING, "{0} is out: {1}", origin, why);
      }
    }

    void end() {
      isEnded = true;
      target.origin().checked(null);
      if (isUnderWay) {
        free();
      }
    }
  }
}
