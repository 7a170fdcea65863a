package io.kamille.core.server;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.tls.HandshakeCounters;

/** What is counted of the TLS handshakes of one listener. Any thread. */
public final class HandshakeMetrics {

  private static final MetricDescriptor HANDSHAKES =
      MetricDescriptor.counter(
          "kamille_tls_handshakes_total",
          Unit.COUNT,
          "TLS handshakes by how they ended: with a version of TLS, or failed.",
          "listener",
          "outcome");

  private HandshakeMetrics() {}

  /** Registers the handshakes of the listener of this name. */
  public static void register(MetricRegistry registry, HandshakeCounters counters, String name) {
    registry.counting(HANDSHAKES, counters::withTls13, name, "TLSv1.3");
    registry.counting(HANDSHAKES, counters::withTls12, name, "TLSv1.2");
    registry.counting(HANDSHAKES, counters::failures, name, "failed");
  }
}
