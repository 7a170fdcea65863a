package io.kamille.cluster.peer;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricGroup;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.send.UpstreamHandler;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What this node has of another one: connections, counters, and who waits for it. Any thread. */
final class PeerLink implements AutoCloseable {

  static final MetricDescriptor REQUESTS =
      MetricDescriptor.counter(
          "kamille_cluster_peer_requests_total",
          "Requests to another node, by how they ended: `hit` from what it has stored, `miss` from"
              + " the origin, `failed` if the next node or the origin was asked instead.",
          "node",
          "result");

  private static final System.Logger LOG = System.getLogger("kamille.cluster");
  private static final Duration AGAIN = Duration.ofSeconds(1);

  /** How a request ended. */
  enum Result {
    HIT,
    MISS,
    FAILED;

    private final String label = name().toLowerCase(java.util.Locale.ROOT);
  }

  private final PeerNode node;
  private final String hit;
  private final Origin origin;
  private final UpstreamHandler handler;
  private final LongAdder[] counts = {new LongAdder(), new LongAdder(), new LongAdder()};
  private final MetricGroup metrics;
  // Volatile: set before those who wait are told.
  private volatile boolean isClosed;
  private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();
  private volatile long heardNanos = System.nanoTime();
  private volatile long silentNanos = heardNanos;
  private final AtomicLong triedNanos = new AtomicLong(heardNanos);

  PeerLink(PeerNode node, Origin origin, UpstreamHandler handler, MetricRegistry registry) {
    this.node = node;
    this.hit = cacheName(node.name()) + "; hit";
    this.origin = origin;
    this.handler = handler;
    this.metrics = new MetricGroup(registry);
    for (Result result : Result.values()) {
      LongAdder count = counts[result.ordinal()];
      metrics.counting(REQUESTS, count::sum, node.name(), result.label);
    }
  }

  /** What a node calls itself in {@code Cache-Status}. */
  static String cacheName(String node) {
    return "kamille-" + node;
  }

  PeerNode node() {
    return node;
  }

  /** What {@code Cache-Status} has if the node has served what it had stored. */
  String hit() {
    return hit;
  }

  Origin origin() {
    return origin;
  }

  UpstreamHandler handler() {
    return handler;
  }

  void count(Result result) {
    counts[result.ordinal()].increment();
  }

  /** Whether the node is gone. */
  boolean isClosed() {
    return isClosed;
  }

  /** What has requests ask another node, of which no response has begun. */
  Set<Runnable> waiting() {
    return waiting;
  }

  /** Something came from the node. */
  void heard() {
    heardNanos = System.nanoTime();
  }

  /** When something came from it last. */
  long heardNanos() {
    return heardNanos;
  }

  private boolean isSilent() {
    return silentNanos - heardNanos > 0;
  }

  /** Whether a request may go there: one each second to a node that does not answer. */
  boolean mayAsk(long nowNanos) {
    long tried = triedNanos.get();
    return !isSilent()
        || (nowNanos - tried > AGAIN.toNanos() && triedNanos.compareAndSet(tried, nowNanos));
  }

  /** The node has not answered in time: who waits for it asks another one. */
  void silent(long nowNanos) {
    boolean isNew = !isSilent();
    silentNanos = nowNanos;
    if (isNew) {
      LOG.log(Level.INFO, "node {0} does not answer: others are asked", node.name());
      triedNanos.set(nowNanos);
      waiting.forEach(Runnable::run);
    }
  }

  /** The node is gone: who waits for it asks another one. */
  @Override
  public void close() {
    isClosed = true;
    handler.close();
    metrics.close();
    waiting.forEach(Runnable::run);
  }
}
