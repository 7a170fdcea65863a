package io.kamille.core.client.open;

import io.kamille.core.client.ServerShard;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.tls.HandshakeCounters;
import io.kamille.core.tls.ServerTls;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/** What is counted of the connections of clients, over all loops. Any thread. */
public final class ConnectionMetrics {

  public static final MetricDescriptor CONNECTIONS =
      MetricDescriptor.gauge(
          "kamille_connections", "Connections to clients that are open.", "listener");

  private static final MetricDescriptor REFUSED =
      MetricDescriptor.counter(
          "kamille_connections_refused_total",
          "Connections closed as soon as they came, by reason. limit: too many are open and none is"
              + " idle. node: the same, of other nodes. client: too many of one client. access: not"
              + " let in. proxy-header: none or no valid one.",
          "reason");

  private static final MetricDescriptor CLOSED_EARLY =
      MetricDescriptor.counter(
          "kamille_connections_closed_early_total",
          "Idle connections closed before their time-out: near the threshold, or for a new one at"
              + " the limit.",
          "reason");

  private static final MetricDescriptor CLOSED_SLOW =
      MetricDescriptor.counter(
          "kamille_connections_closed_slow_total",
          "Connections reset because their client took what waited for it slower than it must"
              + " (rate), or took nothing of it within the content time-out (stopped).",
          "reason");

  private static final MetricDescriptor HANDSHAKES =
      MetricDescriptor.counter(
          "kamille_tls_handshakes_total",
          "TLS handshakes by how they ended: with a version of TLS, failed, or given up because too"
              + " many were under way (displaced).",
          "listener",
          "outcome");
  private static final MetricDescriptor EXPIRY =
      MetricDescriptor.gauge(
          "kamille_tls_certificate_expiry_timestamp_seconds",
          "When the first certificate of a listener expires, in seconds since 1970.",
          "listener");

  private final MetricRegistry registry;
  private final List<ServerShard> shards;

  private ConnectionMetrics(MetricRegistry registry, List<ServerShard> shards) {
    this.registry = registry;
    this.shards = shards;
  }

  /**
   * Registers all of it but what each listener counts.
   *
   * @param idleTimeoutNanos the idle time-out as it is configured now
   */
  public static void register(
      MetricRegistry registry,
      ConnectionLimit limiter,
      ClientTable clients,
      List<ServerShard> shards,
      LongSupplier idleTimeoutNanos) {
    registry.counting(REFUSED, limiter::refused, "limit");
    registry.counting(REFUSED, clients::refusedConnections, "client");
    registry.counting(REFUSED, clients::denied, "access");
    registry.counting(REFUSED, clients::refusedProxyHeaders, "proxy-header");
    registry.counting(
        "kamille_accept_failures_total",
        "Attempts to accept a connection that failed, mostly for want of a file descriptor; each"
            + " time, one listener's loop accepts nothing for a second.",
        limiter::acceptFailures);
    registry.gauge(
        "kamille_connections_idle_timeout_seconds",
        "How long a connection may be idle now.",
        () -> limiter.nanos(idleTimeoutNanos.getAsLong(), 0) / 1e9);
    ConnectionMetrics metrics = new ConnectionMetrics(registry, List.copyOf(shards));
    metrics.counting(CLOSED_EARLY, shard -> shard.connections().endedEarly(), "threshold");
    metrics.counting(CLOSED_EARLY, shard -> shard.connections().displaced(), "limit");
    metrics.counting(CLOSED_SLOW, shard -> shard.connections().tooSlow(), "rate");
    metrics.counting(CLOSED_SLOW, shard -> shard.connections().stopped(), "stopped");
    registry.counting(
        "kamille_request_heads_displaced_total",
        "Unfinished request heads answered with 408 because others needed their room: the oldest"
            + " yields.",
        () -> metrics.sum(shard -> shard.connections().displacedHeads()));
    registry.counting(
        "kamille_request_heads_refused_total",
        "Requests answered with 503 because their head takes more than 4 KiB and those under way"
            + " had used up the room.",
        () -> metrics.sum(shard -> shard.headsUnderWay().refused()));
    registry.gauge(
        "kamille_request_heads_unfinished_bytes",
        "Heap that unfinished request heads take. Kamille limits it to an eighth of the heap.",
        () -> metrics.sum(shard -> shard.connections().unfinishedHeadBytes()));
    registry.gauge(
        "kamille_request_heads_under_way_bytes",
        "Heap that the heads of requests under way take, of those above 4 KiB. Kamille limits it"
            + " to an eighth of the heap.",
        () -> metrics.sum(shard -> shard.headsUnderWay().heapBytes()));
  }

  /** Registers what is counted of connections of other nodes. */
  public static void ofNodes(MetricRegistry registry, ConnectionLimit limiter) {
    registry.counting(REFUSED, limiter::refused, "node");
  }

  /** Registers what is counted of one listener. */
  public static void register(MetricRegistry registry, Listener listener, String name) {
    registry.gauge(CONNECTIONS, listener::connections, name);
  }

  /** Registers the handshakes and certificates of the listener of this name. */
  public static void register(MetricRegistry registry, ServerTls tls, String name) {
    HandshakeCounters counters = tls.counters();
    registry.gauge(EXPIRY, () -> tls.expires().getEpochSecond(), name);
    registry.counting(HANDSHAKES, counters::withTls13, name, "TLSv1.3");
    registry.counting(HANDSHAKES, counters::withTls12, name, "TLSv1.2");
    registry.counting(HANDSHAKES, counters::failures, name, "failed");
    registry.counting(HANDSHAKES, counters::displacements, name, "displaced");
  }

  private void counting(
      MetricDescriptor descriptor, ToLongFunction<ServerShard> count, String... labelValues) {
    registry.counting(descriptor, () -> sum(count), labelValues);
  }

  private double sum(ToLongFunction<ServerShard> count) {
    return shards.stream().mapToLong(count).sum();
  }
}
