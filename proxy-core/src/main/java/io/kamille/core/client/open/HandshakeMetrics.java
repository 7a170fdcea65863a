package io.kamille.core.client.open;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.tls.HandshakeCounters;
import io.kamille.core.tls.ServerTls;

/** What is counted of the TLS handshakes of one listener, and its certificates. Any thread. */
public final class HandshakeMetrics {

  private static final MetricDescriptor HANDSHAKES =
      MetricDescriptor.counter(
          "kamille_tls_handshakes_total",
          Unit.COUNT,
          "TLS handshakes by how they ended: with a version of TLS, failed, or given up because too"
              + " many were under way (displaced).",
          "listener",
          "outcome");

  private static final MetricDescriptor EXPIRY =
      MetricDescriptor.gauge(
          "kamille_tls_certificate_expiry_timestamp_seconds",
          Unit.SECONDS,
          "When the first certificate of a listener expires, in seconds since 1970.",
          "listener");

  private HandshakeMetrics() {}

  /** Registers the handshakes and certificates of the listener of this name. */
  public static void register(MetricRegistry registry, ServerTls tls, String name) {
    HandshakeCounters counters = tls.counters();
    registry.gauge(EXPIRY, () -> tls.expires().getEpochSecond(), name);
    registry.counting(HANDSHAKES, counters::withTls13, name, "TLSv1.3");
    registry.counting(HANDSHAKES, counters::withTls12, name, "TLSv1.2");
    registry.counting(HANDSHAKES, counters::failures, name, "failed");
    registry.counting(HANDSHAKES, counters::displacements, name, "displaced");
  }
}
