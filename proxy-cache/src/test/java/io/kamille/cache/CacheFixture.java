package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.disk.Disk;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.settings.MemorySettings;
import io.kamille.cache.station.CacheHandler;
import io.kamille.core.exchange.ConnectionExchange;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.Sections;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A cache between clients and an origin that the test plays, on one loop whose time is moved by
 * hand. Closing it checks that every lease has ended.
 */
final class CacheFixture implements AutoCloseable {

  static final String URI = "http://example.org/page";
  static final long NOW = 1_800_000_000;

  private static final InetSocketAddress CLIENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
  private static final InetSocketAddress LOCAL =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 8080);

  final ManualClock clock = ManualClock.atSeconds(NOW);
  final MetricRegistry registry = new MetricRegistry();
  final ScriptedOrigin origin = new ScriptedOrigin();

  /** What waits to be compressed; {@link #compress} does it. */
  final Queue<Runnable> workers = new ArrayDeque<>();

  /** What the next task meets in place of a worker, once; null if there is one. */
  @Nullable Error noWorker;

  final Cache cache;
  final CacheHandler handler;
  private @Nullable Runnable interruption;
  private final EmbeddedChannel channel = new EmbeddedChannel();

  CacheFixture() {
    this(4 << 20, TestSettings.of(1 << 20));
  }

  CacheFixture(long capacityBytes, CacheSettings settings) {
    this(capacityBytes, Long.MAX_VALUE, settings);
  }

  CacheFixture(long capacityBytes, long sendfileFromBytes, CacheSettings settings) {
    channel.freezeTime();
    cache = Cache.open(memory(capacityBytes, sendfileFromBytes), this::work, registry, clock);
    handler = cache.handler(origin, settings, this::gate);
  }

  /** Memory of that size, from which responses that long go to clients by sendfile. */
  static MemorySettings memory(long capacityBytes, long sendfileFromBytes) {
    return Sections.copy(MemorySettings.SECTION.defaults())
        .with("capacityBytes", capacityBytes)
        .with("sendfileFromBytes", sendfileFromBytes)
        .record();
  }

  /** A cache with a disk behind memory; {@code reads} takes what is to be read. */
  CacheFixture(long capacityBytes, DiskSettings disk, Executor reads) throws IOException {
    this(capacityBytes, TestSettings.of(capacityBytes), disk, reads);
  }

  CacheFixture(long capacityBytes, CacheSettings settings, DiskSettings disk, Executor reads)
      throws IOException {
    channel.freezeTime();
    cache =
        Cache.open(
            memory(capacityBytes, Long.MAX_VALUE),
            disk,
            Disk.ofSystem(),
            reads,
            this::work,
            registry,
            clock);
    handler = cache.handler(origin, settings, RouteGate.OPEN);
  }

  /**
   * Does something once, on the thread of the request, between the lookup of the next request that
   * what is stored does not answer and its way to the origin.
   */
  void beforeTheNextIsForwarded(Runnable action) {
    interruption = action;
  }

  private @Nullable Failure gate(Exchange exchange) {
    Runnable action = interruption;
    interruption = null;
    if (action != null) {
      action.run();
    }
    return null;
  }

  /** Sends a request on the fixture's loop, and lets the loop come to rest. */
  RecordingReply send(String method, String uri, String... fields) {
    RecordingReply reply = new RecordingReply();
    handler.handle(exchange(method, uri, reply, fields));
    run();
    return reply;
  }

  Exchange exchange(String method, String uri, RecordingReply reply, String... fields) {
    return exchange(channel.eventLoop(), method, uri, reply, fields);
  }

  RecordingReply get(String... fields) {
    return send("GET", URI, fields);
  }

  static Exchange exchange(
      EventLoop loop, String method, String uri, Reply reply, String... fields) {
    return exchange(loop, RequestHead.of(method, uri, fields), reply);
  }

  static ConnectionExchange exchange(EventLoop loop, RequestHead request, Reply reply) {
    return new ConnectionExchange(loop, CLIENT, LOCAL, request, RequestContent.NONE, reply);
  }

  EventLoop loop() {
    return channel.eventLoop();
  }

  /** Stores a response to GET of the URI, with {@code Cache-Control: max-age=60}. */
  void store(String content, String... fields) {
    String[] all = new String[fields.length + 2];
    all[0] = "Cache-Control";
    all[1] = "max-age=60";
    System.arraycopy(fields, 0, all, 2, fields.length);
    get();
    origin.last().respond(200, content, all);
    run();
  }

  /** Sends a GET of the URI that the origin answers so; the request must reach it. */
  RecordingReply fill(String[] request, int status, String content, String... response) {
    int before = forwarded();
    RecordingReply reply = get(request);
    assertThat(forwarded()).as("requests at the origin").isEqualTo(before + 1);
    origin.last().respond(status, content, response);
    run();
    return reply;
  }

  /** As {@link #fill} for a request without fields. */
  RecordingReply fill(int status, String content, String... response) {
    return fill(new String[0], status, content, response);
  }

  /** Whether a GET of the URI is answered without the origin, which would change nothing stored. */
  boolean isReused(String... request) {
    int before = forwarded();
    get(request);
    if (forwarded() == before) {
      return true;
    }
    origin.last().respond(403, "asked", "Cache-Control", "no-store");
    run();
    return false;
  }

  static String[] fields(String... namesAndValues) {
    return namesAndValues;
  }

  /** Lets the loop do what it has to do. */
  void run() {
    channel.runPendingTasks();
  }

  private void work(Runnable task) {
    Error fault = noWorker;
    noWorker = null;
    if (fault != null) {
      throw fault;
    }
    workers.add(task);
  }

  /** Compresses what waits for it, as the workers would. */
  void compress() {
    while (!workers.isEmpty()) {
      workers.remove().run();
    }
  }

  /** Moves all time. */
  void advance(long seconds) {
    advance(Duration.ofSeconds(seconds));
  }

  /** Moves all time. */
  void advance(Duration step) {
    clock.advance(step);
    channel.advanceTimeBy(step.toNanos(), TimeUnit.NANOSECONDS);
    channel.runScheduledPendingTasks();
    run();
  }

  /** What a counter with these label values has counted. */
  long counted(String metric, String... labels) {
    return registry.read().stream()
        .filter(family -> family.descriptor().name().equals(metric))
        .flatMap(family -> family.samples().stream())
        .filter(sample -> sample.labelValues().equals(List.of(labels)))
        .mapToLong(sample -> (long) sample.value())
        .sum();
  }

  /** How many requests have reached the origin. */
  int forwarded() {
    return origin.requests().size();
  }

  @Override
  public void close() {
    run();
    cache.operations().purges().clear();
    stop();
  }

  /** Ends as {@link #close}, but what is on a disk stays there. */
  void stop() {
    run();
    assertThat(cache.operations().inFlight()).isZero();
    cache.close();
    assertThat(cache.operations().usedBytes()).isZero();
    channel.finishAndReleaseAll();
  }
}
