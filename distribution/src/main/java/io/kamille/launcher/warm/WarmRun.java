package io.kamille.launcher.warm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.Storability;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.launcher.warm.WarmProgress.Trouble;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One warm-up, on a thread of its own. Any thread may ask how far it is. */
final class WarmRun {

  /*
   * Each request goes the way of a client's: from the first station on, by our own router, to an
   * upstream of a route. It is sent only if the explanation of that request says that a response may
   * be stored. So a URL of another site, or one that the cache does not hold, is never asked for.
   *
   * The thread paces, loops carry a few requests at a time, and the thread waits for the oldest of
   * them. A response that is not whole in time is given up.
   */
  private static final int AT_ONCE = 4;
  private static final int MOST_TROUBLES = 20;
  static final long REQUEST_LIMIT_SECONDS = 60;
  private static final InetSocketAddress HERE =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final Set<String> PERSONAL = Set.of("cookie", "authorization", "*");

  /** A request that is to be made. */
  record Item(String url, SelectingFields selecting) {}

  /** A request that is under way. */
  private record Asked(
      String url, RequestHead request, EventLoop home, WarmReply reply, CountDownLatch over) {

    /** Why there is no good response; empty if there is one. Waits for it. */
    String failure(long limitSeconds) throws InterruptedException {
      if (!over.await(limitSeconds, TimeUnit.SECONDS)) {
        home.execute(() -> reply.giveUp("no whole response in " + limitSeconds + " s"));
        over.await();
      }
      return reply.failure();
    }
  }

  private enum Outcome {
    STORED,
    FRESH,
    NOT_STORED,
    FAILED,
    SKIPPED
  }

  private final WarmSource source;
  private final String of;
  private final long pauseNanos;
  private final long limitSeconds;
  private final Supplier<List<Item>> plan;
  private final Thread thread;
  private long dueNanos = System.nanoTime();
  private int requests;
  // Volatile: written by the thread, read by the control plane.
  private volatile int total;

  @GuardedBy("this")
  private final Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);

  @GuardedBy("this")
  private final List<Trouble> troubles = new ArrayList<>();

  /**
   * Not begun yet.
   *
   * @param of what it is, in words
   * @param rate requests to origins a second, at the most
   * @param limitSeconds for each response
   * @param plan says on the thread which requests there are to make
   */
  WarmRun(WarmSource source, String of, int rate, long limitSeconds, Supplier<List<Item>> plan) {
    this.source = source;
    this.of = of;
    this.limitSeconds = limitSeconds;
    this.plan = plan;
    pauseNanos = TimeUnit.SECONDS.toNanos(1) / rate;
    thread = Thread.ofPlatform().name("kamille-warm-up").daemon().unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** Sends no more requests. Those under way end by themselves. */
  void stop() {
    thread.interrupt();
  }

  // How far it is

  boolean isUnderWay() {
    return thread.isAlive();
  }

  synchronized WarmProgress progress(UnaryOperator<String> shown) {
    int done = counts.values().stream().mapToInt(Integer::intValue).sum();
    return new WarmProgress(
        isUnderWay() ? "running" : "done",
        shown.apply(of),
        Math.max(done, total),
        done,
        count(Outcome.STORED),
        count(Outcome.FRESH),
        count(Outcome.NOT_STORED),
        count(Outcome.FAILED),
        count(Outcome.SKIPPED),
        troubles.stream().map(one -> new Trouble(shown.apply(one.url()), one.why())).toList());
  }

  @GuardedBy("this")
  private int count(Outcome outcome) {
    return counts.getOrDefault(outcome, 0);
  }

  private synchronized void counted(Outcome outcome, String url, String why) {
    counts.merge(outcome, 1, Integer::sum);
    tell(url, why);
  }

  private synchronized void tell(String url, String why) {
    if (!why.isEmpty() && troubles.size() < MOST_TROUBLES) {
      troubles.add(new Trouble(url, why));
    }
  }

  // The thread

  private void run() {
    try {
      List<Item> items = plan.get();
      total = items.size();
      Deque<Asked> underWay = new ArrayDeque<>();
      for (Item item : items) {
        if (underWay.size() == AT_ONCE) {
          settle(underWay.remove());
        }
        Asked asked = begun(item);
        if (asked != null) {
          underWay.add(asked);
        }
      }
      for (Asked asked : underWay) {
        settle(asked);
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private @Nullable Asked begun(Item item) throws InterruptedException {
    RequestHead request = request(item);
    String against = against(item, request);
    if (request == null || !against.isEmpty()) {
      counted(Outcome.SKIPPED, item.url(), against);
      return null;
    }
    if (explained(request).decision() == Decision.SERVE) {
      counted(Outcome.FRESH, item.url(), "");
      return null;
    }
    long now = System.nanoTime();
    TimeUnit.NANOSECONDS.sleep(dueNanos - now);
    dueNanos = Math.max(dueNanos, now) + pauseNanos;
    return ask(item.url(), request);
  }

  private void settle(Asked asked) throws InterruptedException {
    String failure = asked.failure(limitSeconds);
    Explanation now = explained(asked.request());
    if (!failure.isEmpty()) {
      counted(Outcome.FAILED, asked.url(), failure);
    } else if (now.decision() == Decision.SERVE || now.decision() == Decision.SERVE_STALE) {
      counted(Outcome.STORED, asked.url(), "");
    } else {
      Storability why = now.notStored();
      String usual = "its response is stale at once, or was not stored";
      counted(Outcome.NOT_STORED, asked.url(), why == null ? usual : why.clause());
    }
  }

  private Explanation explained(RequestHead request) {
    return source.explain().apply(request, HERE.getAddress());
  }

  /** Null if no request can have that URL. */
  private static @Nullable RequestHead request(Item item) {
    RequestHead request = CacheKey.request(item.url());
    if (request != null) {
      item.selecting().copyTo(request.fields());
      if (!request.fields().has(FieldName.USER_AGENT)) {
        request.fields().add("User-Agent", "Kamille-Warm-Up");
      }
    }
    return request;
  }

  /** Why a request is not sent; empty if it may be. */
  private String against(Item item, @Nullable RequestHead request) {
    if (request == null) {
      return "no request can have this URL";
    }
    if (item.selecting().names().stream().anyMatch(PERSONAL::contains)) {
      return "it is a variant for one client";
    }
    Explanation explained = explained(request);
    return switch (explained.decision()) {
      case SERVE, SERVE_STALE, VALIDATE, FORWARD -> "";
      case PASS, PURGE, ANSWER, REFUSE ->
          explained.deciding().found() + ": " + explained.deciding().so();
    };
  }

  /** Sends a copy of a request, on one of the loops. */
  private Asked ask(String url, RequestHead request) {
    EventLoop home = source.loops().get(requests++ % source.loops().size());
    CountDownLatch over = new CountDownLatch(1);
    WarmReply reply = new WarmReply(over::countDown);
    // The cache takes what discards by itself for a fetch in the background.
    Reply client = new PassingReply(reply);
    Exchange exchange = new Exchange(home, HERE, HERE, request.copy(), RequestContent.NONE, client);
    home.execute(() -> handle(exchange, reply));
    return new Asked(url, request, home, reply, over);
  }

  private void handle(Exchange exchange, WarmReply reply) {
    try {
      source.entrance().handle(exchange);
    } catch (RuntimeException bug) {
      System.getLogger("kamille.warm-up").log(System.Logger.Level.ERROR, "a fault of ours", bug);
      reply.giveUp("a fault in the proxy");
    }
  }
}
