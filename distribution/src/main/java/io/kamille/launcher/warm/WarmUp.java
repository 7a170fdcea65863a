package io.kamille.launcher.warm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.tiers.PurgedUrls.PurgedUrl;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.launcher.warm.WarmProgress.Trouble;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Fetches what will be asked for, one order at a time, on a thread of its own. Any thread. */
public final class WarmUp implements AutoCloseable {

  /*
   * Each request goes the way of a client's: from the first station on, by our own router, to an
   * upstream of a route. It is sent only if the explanation of that request says that a response may
   * be stored. So a URL of another site, or one that the cache does not hold, is never asked for.
   *
   * The thread paces, a loop carries each request, and the thread counts what has ended. Whoever
   * answers late has a limit; whoever answers never is given up.
   */
  static final int MOST_URLS = 10_000;
  private static final int MOST_SITEMAPS = 50;
  private static final int MOST_VARIANTS = 16;
  private static final int MOST_TROUBLES = 20;
  private static final int SITEMAP_LIMIT_BYTES = 10 << 20;
  private static final long REQUEST_LIMIT_SECONDS = 60;
  private static final InetSocketAddress HERE =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final String FRESH = "fresh";
  private static final String NO_REQUEST = "no request can have this URL";
  private static final Set<String> PERSONAL = Set.of("cookie", "authorization", "*");

  /** What it needs of the appliance. Any thread. */
  public interface Source {

    /** What would become of a request of this machine. */
    Explanation explain(RequestHead request, InetAddress client);

    /** The first station. */
    ExchangeHandler entrance();

    List<EventLoop> loops();

    /** The URLs that are asked for most, and how often. */
    Map<String, Long> hottest();

    /** What a purge removed, the hottest first; null if there is no such purge. */
    @Nullable List<PurgedUrl> removedBy(long purge);

    /** The request fields that stored responses of a URL were selected by. */
    List<SelectingFields> variants(String url);
  }

  /** A request that waits. */
  private record Item(String url, SelectingFields selecting) {}

  /** One that is over. */
  private record Over(Item item, RequestHead request, WarmReply reply) {}

  private enum State {
    NONE,
    PREPARING,
    RUNNING,
    DONE,
    STOPPED
  }

  private final Source source;

  @GuardedBy("this")
  private State state = State.NONE;

  @GuardedBy("this")
  private WarmOrder order = new WarmOrder(List.of(), null, null, 1, 1);

  @GuardedBy("this")
  private @Nullable Thread thread;

  @GuardedBy("this")
  private @Nullable Instant started;

  @GuardedBy("this")
  private long startNanos;

  @GuardedBy("this")
  private long endNanos;

  @GuardedBy("this")
  private int total;

  @GuardedBy("this")
  private final int[] counts = new int[Outcome.values().length];

  @GuardedBy("this")
  private final List<Trouble> troubles = new ArrayList<>();

  private enum Outcome {
    STORED,
    FRESH,
    NOT_STORED,
    FAILED,
    SKIPPED
  }

  /** Nothing is ordered yet. */
  public WarmUp(Source source) {
    this.source = source;
  }

  // Orders

  /** Begins; false if another order is under way. */
  synchronized boolean start(WarmOrder next) {
    if (isUnderWay()) {
      return false;
    }
    order = next;
    state = State.PREPARING;
    started = Instant.now();
    startNanos = System.nanoTime();
    total = 0;
    Arrays.fill(counts, 0);
    troubles.clear();
    Thread begun = Thread.ofPlatform().name("kamille-warm-up").daemon().unstarted(() -> run(next));
    thread = begun;
    begun.start();
    return true;
  }

  @GuardedBy("this")
  private boolean isUnderWay() {
    return state == State.PREPARING || state == State.RUNNING;
  }

  /** Whether there was such a purge. */
  boolean knows(long purge) {
    return source.removedBy(purge) != null;
  }

  /** Sends no more requests. Those under way end by themselves. */
  synchronized void stop() {
    if (isUnderWay()) {
      ended(State.STOPPED);
      if (thread != null) {
        thread.interrupt();
      }
    }
  }

  @Override
  public void close() {
    stop();
  }

  synchronized WarmProgress progress() {
    long nanos = (isUnderWay() ? System.nanoTime() : endNanos) - startNanos;
    int done = 0;
    for (int count : counts) {
      done += count;
    }
    return new WarmProgress(
        state.name().toLowerCase(Locale.ROOT),
        state == State.NONE ? "" : order.words(),
        total,
        done,
        count(Outcome.STORED),
        count(Outcome.FRESH),
        count(Outcome.NOT_STORED),
        count(Outcome.FAILED),
        count(Outcome.SKIPPED),
        started,
        state == State.NONE ? 0 : Duration.ofNanos(nanos).toMillis() / 1e3,
        order.rate(),
        order.concurrency(),
        troubles);
  }

  @GuardedBy("this")
  @SuppressWarnings("EnumOrdinal") // an index in memory
  private int count(Outcome outcome) {
    return counts[outcome.ordinal()];
  }

  @SuppressWarnings("EnumOrdinal") // an index in memory
  private synchronized void counted(Outcome outcome, String url, String why) {
    // What was stopped counts no more: its place may be another order's.
    if (Thread.currentThread().equals(thread)) {
      counts[outcome.ordinal()]++;
      if (!why.isEmpty() && troubles.size() < MOST_TROUBLES) {
        troubles.add(new Trouble(url, why));
      }
    }
  }

  @GuardedBy("this")
  private void ended(State how) {
    state = how;
    endNanos = System.nanoTime();
  }

  // The thread

  private void run(WarmOrder ordered) {
    try {
      List<Item> items = items(ordered);
      if (isBegun(items.size())) {
        send(items, ordered);
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (this) {
        if (isUnderWay() && Thread.currentThread().equals(thread)) {
          ended(State.DONE);
        }
      }
    }
  }

  /** There are so many requests to make; false if nobody wants them any more. */
  private synchronized boolean isBegun(int requests) {
    if (state != State.PREPARING || !Thread.currentThread().equals(thread)) {
      return false;
    }
    total = requests;
    state = State.RUNNING;
    return true;
  }

  private void send(List<Item> items, WarmOrder ordered) throws InterruptedException {
    Queue<Over> over = new ConcurrentLinkedQueue<>();
    Semaphore places = new Semaphore(ordered.concurrency());
    long pause = TimeUnit.SECONDS.toNanos(1) / ordered.rate();
    long due = System.nanoTime();
    int loop = 0;
    for (Item item : items) {
      RequestHead request = request(item);
      String against = request == null ? NO_REQUEST : against(item, request);
      if (request == null || !against.isEmpty()) {
        boolean isFresh = against.equals(FRESH);
        counted(isFresh ? Outcome.FRESH : Outcome.SKIPPED, item.url(), isFresh ? "" : against);
        continue;
      }
      long wait = due - System.nanoTime();
      if (wait > 0) {
        TimeUnit.NANOSECONDS.sleep(wait);
      }
      due = Math.max(due, System.nanoTime() - TimeUnit.SECONDS.toNanos(1)) + pause;
      places.acquire();
      settle(over);
      ask(
          request.copy(),
          loop++,
          0,
          reply -> {
            over.add(new Over(item, request, reply));
            places.release();
          });
    }
    places.acquire(ordered.concurrency());
    settle(over);
  }

  /** Why a request is not sent; empty if it is. */
  private String against(Item item, RequestHead request) {
    if (item.selecting().names().stream().anyMatch(PERSONAL::contains)) {
      return "it is a variant for one client";
    }
    Explanation explained = source.explain(request, HERE.getAddress());
    return switch (explained.decision()) {
      case SERVE -> FRESH;
      case SERVE_STALE, VALIDATE, FORWARD -> "";
      case PASS, PURGE, REFUSE -> why(explained.deciding());
    };
  }

  private static String why(Reason reason) {
    return reason.found() + ": " + reason.so();
  }

  private void settle(Queue<Over> over) {
    for (Over one = over.poll(); one != null; one = over.poll()) {
      WarmReply reply = one.reply();
      if (!reply.trouble().isEmpty()) {
        counted(Outcome.FAILED, one.item().url(), reply.trouble());
      } else if (reply.status() >= 400) {
        counted(Outcome.FAILED, one.item().url(), "status " + reply.status());
      } else {
        Explanation now = source.explain(one.request(), HERE.getAddress());
        boolean isStored =
            now.decision() == Explanation.Decision.SERVE
                || now.decision() == Explanation.Decision.SERVE_STALE;
        counted(
            isStored ? Outcome.STORED : Outcome.NOT_STORED,
            one.item().url(),
            isStored
                ? ""
                : Objects.requireNonNullElse(
                    now.whyNotStored(), "its response is stale at once, or was not stored"));
      }
    }
  }

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

  /** Sends a request, on one of the loops. */
  private void ask(RequestHead request, int loop, int contentLimit, Consumer<WarmReply> told) {
    List<EventLoop> loops = source.loops();
    EventLoop home = loops.get(loop % loops.size());
    home.execute(() -> begin(request, home, contentLimit, told));
  }

  private void begin(
      RequestHead request, EventLoop home, int contentLimit, Consumer<WarmReply> told) {
    List<Future<?>> limit = new ArrayList<>();
    WarmReply reply =
        new WarmReply(
            contentLimit,
            ended -> {
              limit.forEach(timer -> timer.cancel(false));
              told.accept(ended);
            });
    limit.add(
        home.schedule(
            () -> reply.giveUp("no whole response in " + REQUEST_LIMIT_SECONDS + " s"),
            REQUEST_LIMIT_SECONDS,
            TimeUnit.SECONDS));
    try {
      source.entrance().handle(new Exchange(home, HERE, HERE, request, RequestContent.NONE, reply));
    } catch (RuntimeException bug) {
      System.getLogger("kamille.warm-up").log(System.Logger.Level.ERROR, "a fault of ours", bug);
      reply.giveUp("a fault in the proxy");
    }
  }

  // What there is to ask for

  private List<Item> items(WarmOrder ordered) throws InterruptedException {
    if (ordered.purge() != null) {
      List<PurgedUrl> removed = source.removedBy(ordered.purge());
      return removed == null
          ? List.of()
          : removed.stream().map(url -> new Item(url.uri(), url.selecting())).toList();
    }
    List<String> urls = new ArrayList<>(ordered.urls());
    if (ordered.sitemap() != null) {
      urls.addAll(ofSitemap(ordered.sitemap()));
    }
    Map<String, Long> hottest = source.hottest();
    List<Item> items = new ArrayList<>();
    urls.stream()
        .distinct()
        .sorted(Comparator.comparing((String url) -> hottest.getOrDefault(url, 0L)).reversed())
        .forEach(url -> addVariants(url, items));
    return items;
  }

  /** One request for each variant that was asked for, or a plain one. */
  private void addVariants(String url, List<Item> items) {
    List<SelectingFields> variants =
        CacheKey.request(url) == null ? List.of() : source.variants(url);
    if (variants.isEmpty()) {
      items.add(new Item(url, SelectingFields.NONE));
    }
    variants.stream()
        .limit(MOST_VARIANTS)
        .forEach(selecting -> items.add(new Item(url, selecting)));
  }

  private Set<String> ofSitemap(String sitemap) throws InterruptedException {
    Set<String> urls = new LinkedHashSet<>();
    Deque<String> waiting = new ArrayDeque<>(List.of(sitemap));
    Set<String> seen = new LinkedHashSet<>(waiting);
    while (!waiting.isEmpty() && urls.size() < MOST_URLS) {
      String url = waiting.remove();
      Sitemap read = Sitemap.of(fetched(url), MOST_URLS - urls.size());
      if (!read.isIndex()) {
        urls.addAll(read.urls());
        continue;
      }
      for (String other : read.urls()) {
        if (seen.size() < MOST_SITEMAPS && seen.add(other)) {
          if (isOfOneSite(url, other)) {
            waiting.add(other);
          } else {
            notRead(other, "its index has another scheme or host");
          }
        }
      }
    }
    return urls;
  }

  /** Whether two URLs have the same scheme and host. */
  private static boolean isOfOneSite(String index, String child) {
    RequestHead one = CacheKey.request(index);
    RequestHead other = CacheKey.request(child);
    return one != null && other != null && site(one).equals(site(other));
  }

  private static String site(RequestHead request) {
    byte[] authority =
        Authority.normal(
            request.octets(), request.authorityStart(), request.authorityEnd(), request.isSecure());
    return request.isSecure() + Octets.text(authority, 0, authority.length);
  }

  private void notRead(String sitemap, String why) {
    counted(Outcome.FAILED, sitemap, "the sitemap: " + why);
  }

  /** The text of a sitemap, by our own router; empty if there is none. */
  private String fetched(String url) throws InterruptedException {
    // Under the rule of the URLs in it: its author must not send requests of ours to any route.
    Item item = new Item(url, SelectingFields.NONE);
    RequestHead request = request(item);
    String against = request == null ? NO_REQUEST : against(item, request);
    if (request == null || !(against.isEmpty() || against.equals(FRESH))) {
      notRead(url, against);
      return "";
    }
    Semaphore isOver = new Semaphore(0);
    Queue<WarmReply> replies = new ConcurrentLinkedQueue<>();
    ask(
        request,
        0,
        SITEMAP_LIMIT_BYTES,
        reply -> {
          replies.add(reply);
          isOver.release();
        });
    isOver.acquire();
    WarmReply reply = replies.remove();
    if (reply.status() == 200 && reply.trouble().isEmpty()) {
      return reply.content();
    }
    notRead(url, reply.trouble().isEmpty() ? "status " + reply.status() : reply.trouble());
    return "";
  }
}
