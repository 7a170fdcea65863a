package io.kamille.admin.tuning;

import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.util.function.Supplier;

/** What a tuner counts, and what clients' paths are like, look by look. */
public final class TuningMetrics {

  static final MetricDescriptor BUDGET =
      MetricDescriptor.gauge(
          "kamille_tuning_budget_bytes",
          "The budget of all send buffers together: as configured, or less while memory is short."
              + " It binds with the policy equation.");

  static final MetricDescriptor ALLOCATED =
      MetricDescriptor.gauge(
          "kamille_tuning_allocated_bytes", "Octets of that budget that connections are allowed.");

  static final MetricDescriptor HELD =
      MetricDescriptor.gauge(
          "kamille_tuning_held_bytes",
          "Octets that wait for clients: in front of the kernel, unsent in it, and sent but not"
              + " acknowledged. Stored responses are not counted twice.");

  static final MetricDescriptor FAIRNESS =
      MetricDescriptor.gauge(
          "kamille_tuning_fairness_ratio",
          "Jain's index of what connections carry in parts of what their paths could; 1 if all"
              + " alike.");

  static final MetricDescriptor ROUND_TRIP =
      MetricDescriptor.histogram(
          "kamille_client_round_trip_seconds",
          "Smoothed round-trip times of connections that wrote, once for each look.");

  static final MetricDescriptor RATE =
      MetricDescriptor.histogram(
          "kamille_client_rate_bytes",
          "Estimated octets per second of connections that wrote, once for each look.");

  static final MetricDescriptor LOSS =
      MetricDescriptor.histogram(
          "kamille_client_loss_ratio",
          "Loss events per segment of connections that wrote, once for each look.");

  static final MetricDescriptor BUFFER =
      MetricDescriptor.histogram(
          "kamille_client_send_buffer_bytes",
          "Octets that wait for clients of connections that wrote, in the kernel and in front of"
              + " it, once for each look.");

  private static final double NANO = 1e9;
  private static final int NANOS_PER_MICRO = 1000;

  private final Histogram roundTrip;
  private final Histogram rate;
  private final Histogram loss;
  private final Histogram buffer;

  /** Histograms that are read from {@code registry}. */
  public TuningMetrics(MetricRegistry registry) {
    roundTrip = registry.histogram(ROUND_TRIP);
    rate = registry.histogram(RATE);
    loss = registry.histogram(LOSS);
    buffer = registry.histogram(BUFFER);
  }

  /** A connection was looked at. On the tuner's thread. */
  void record(TunedConnection connection) {
    Estimate estimate = connection.estimate();
    roundTrip.record(connection.sample().srttMicros() * NANOS_PER_MICRO);
    rate.record((long) estimate.bytesPerSecond());
    loss.record(estimate.hasLost() ? (long) (estimate.lossEventRate() * NANO) : 0);
    buffer.record(connection.pendingBytes());
  }

  /** What that tuner says of all connections together. */
  static void register(MetricRegistry registry, Supplier<TuningSnapshot> tuner) {
    registry.gauge(BUDGET, () -> tuner.get().budgetInForceBytes());
    registry.gauge(ALLOCATED, () -> tuner.get().allocatedBytes());
    registry.gauge(HELD, () -> tuner.get().heldBytes());
    registry.gauge(FAIRNESS, () -> tuner.get().fairness());
  }
}
