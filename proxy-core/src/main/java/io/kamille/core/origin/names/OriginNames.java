package io.kamille.core.origin.names;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.names.NameLookup.Answer;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Looks up what the names of origins mean, and again when an answer has run out, on a loop of its
 * own. Any thread.
 *
 * <p>A name that cannot be found any more keeps the addresses it had.
 */
public final class OriginNames implements AutoCloseable {

  /*
   * The look-ups of one name follow each other: each answer sets the time of the next. So nothing
   * of a name is changed by two threads at a time. An IP address is no name and is taken as it is.
   * The thread of the loop starts with the first name.
   */

  public static final MetricDescriptor FAILED =
      MetricDescriptor.counter(
          "kamille_upstream_lookups_failed_total",
          "Look-ups of origins' names that found no address. The log says why.");

  /** Does something after some time, on the loop of the names. */
  @FunctionalInterface
  interface Timer {
    void after(Duration delay, Runnable action);
  }

  public static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

  /** A start or a reload waits no longer for names that nobody answers for. */
  private static final Duration FIRST_ANSWERS = Duration.ofSeconds(10);

  private final NameLookup lookup;
  private final Timer timer;
  private final Runnable whenClosed;
  private final System.Logger log;
  private final LongAdder failed = new LongAdder();
  private final Map<Origin, Name> watched = new ConcurrentHashMap<>();

  // Volatile: set by whoever closes, read on the loop.
  private volatile boolean isClosed;

  OriginNames(
      NameLookup lookup,
      Timer timer,
      MetricRegistry registry,
      Runnable whenClosed,
      System.Logger log) {
    this.log = log;
    this.lookup = lookup;
    this.timer = timer;
    this.whenClosed = whenClosed;
    registry.counting(FAILED, failed::sum);
  }

  /**
   * Opens the loop that looks names up.
   *
   * @param lookup by which it does, made for that loop
   */
  public static OriginNames open(Function<EventLoop, NameLookup> lookup, MetricRegistry registry) {
    MultiThreadIoEventLoopGroup group =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("kamille-names", true), NioIoHandler.newFactory());
    EventLoop loop = group.next();
    return new OriginNames(
        lookup.apply(loop),
        (delay, action) -> loop.schedule(action, delay.toNanos(), TimeUnit.NANOSECONDS),
        registry,
        () -> group.shutdownGracefully(0, 1, TimeUnit.SECONDS),
        System.getLogger("kamille.upstream"));
  }

  /**
   * Looks these origins up before it returns, and from now on again and again. Blocks, for 10 s at
   * most.
   */
  public void watch(Collection<Origin> origins) {
    watch(origins, _ -> false);
  }

  /**
   * The same.
   *
   * @param isFull whether the name of an origin is one that no search domain is added to
   */
  public void watch(Collection<Origin> origins, Predicate<Origin> isFull) {
    List<CompletableFuture<?>> first = new ArrayList<>();
    for (Origin origin : origins) {
      InetAddress address = NetUtil.createInetAddressFromIpAddressString(origin.host());
      Name name = new Name(origin, isFull.test(origin));
      watched.put(origin, name);
      if (address == null) {
        first.add(name.lookUp());
      } else {
        origin.addresses(List.of(address));
      }
    }
    CompletableFuture.allOf(first.toArray(CompletableFuture[]::new))
        .orTimeout(FIRST_ANSWERS.toNanos(), TimeUnit.NANOSECONDS)
        .exceptionally(this::late)
        .join();
  }

  private @Nullable Void late(Throwable why) {
    if (!(why instanceof TimeoutException)) {
      throw new IllegalStateException(why);
    }
    log.log(Level.WARNING, "going on without the addresses of some origins: no answer yet");
    return null;
  }

  /** By what it looks names up. */
  public NameLookup lookup() {
    return lookup;
  }

  /** Cares no longer about these origins. */
  public void forget(Collection<Origin> origins) {
    watched.keySet().removeAll(origins);
  }

  /** How many origins are watched. */
  public int watched() {
    return watched.size();
  }

  /** Ends all look-ups. */
  @Override
  public void close() {
    isClosed = true;
    whenClosed.run();
  }

  /** The name of one origin. */
  private final class Name {

    private final Origin origin;
    private final boolean isFull;
    private boolean isFailing;
    private boolean isCut;

    Name(Origin origin, boolean isFull) {
      this.origin = origin;
      this.isFull = isFull;
    }

    /** Looks it up; the result is done, without a failure, when the answer has been taken. */
    CompletableFuture<?> lookUp() {
      return ask().handle(this::take);
    }

    private CompletableFuture<Answer> ask() {
      try {
        String host = origin.host();
        return isFull ? lookup.findFull(host) : lookup.find(host);
      } catch (RuntimeException | Error fault) {
        return CompletableFuture.failedFuture(fault);
      }
    }

    private void lookUpAgain() {
      if (isWatched()) {
        lookUp();
      }
    }

    private boolean isWatched() {
      return !isClosed && watched.get(origin) == this;
    }

    private boolean take(@Nullable Answer answer, @Nullable Throwable failure) {
      if (!isWatched()) {
        return false;
      }
      // First of all: whatever happens below, there is a next time.
      timer.after(answer == null ? AFTER_FAILURE : answer.validFor(), this::lookUpAgain);
      if (answer == null) {
        failed(String.valueOf(failure == null ? null : failure.getMessage()));
        return false;
      }
      origin.addresses(answer.addresses());
      cut(answer.addresses().size());
      if (isFailing) {
        isFailing = false;
        log.log(Level.INFO, origin.host() + " is found again");
      }
      return true;
    }

    /** Says it once: a name with very many may have one more or less each time. */
    private void cut(int count) {
      if (count > Origin.MOST_ADDRESSES && !isCut) {
        isCut = true;
        log.log(
            Level.WARNING,
            origin.host()
                + (" has " + count + " addresses, of which " + Origin.MOST_ADDRESSES)
                + " are used: give the others a name of their own, and list it as an origin");
      }
    }

    /** Says it once, until the name is found again. */
    private void failed(String why) {
      failed.increment();
      if (isFailing) {
        return;
      }
      isFailing = true;
      String kept =
          origin.address() == null
              ? "requests to it fail until it is found"
              : "it keeps the addresses that it had";
      log.log(Level.WARNING, "the look-up of an origin failed, " + kept + ": " + why);
    }
  }
}
