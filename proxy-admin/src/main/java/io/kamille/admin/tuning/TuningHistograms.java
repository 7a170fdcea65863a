package io.kamille.admin.tuning;

import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;

/** What clients' paths are like, look by look. Confined to the tuner's thread. */
public final class TuningHistograms {

  static final MetricDescriptor ROUND_TRIP =
      MetricDescriptor.histogram(
          "kamille_client_round_trip_seconds",
          "Smoothed round-trip times of connections that wrote, once for each look.");

  static final MetricDescriptor RATE =
      MetricDescriptor.histogram(
          "kamille_client_rate_bytes",
          Unit.BYTES,
          "Estimated octets per second of connections that wrote, once for each look.");

  static final MetricDescriptor LOSS =
      MetricDescriptor.histogram(
          "kamille_client_loss_ratio",
          Unit.RATIO,
          "Loss events per segment of connections that wrote, once for each look.");

  static final MetricDescriptor BUFFER =
      MetricDescriptor.histogram(
          "kamille_client_send_buffer_bytes",
          Unit.BYTES,
          "Octets that wait for clients of connections that wrote, in the kernel and in front of"
              + " it, once for each look.");

  private static final double NANO = 1e9;
  private static final int NANOS_PER_MICRO = 1000;

  private final Histogram roundTrip;
  private final Histogram rate;
  private final Histogram loss;
  private final Histogram buffer;

  /** Histograms that are read from {@code registry}. */
  public TuningHistograms(MetricRegistry registry) {
    roundTrip = registry.histogram(ROUND_TRIP);
    rate = registry.histogram(RATE);
    loss = registry.histogram(LOSS);
    buffer = registry.histogram(BUFFER);
  }

  void record(TunedConnection connection) {
    Estimate estimate = connection.estimate();
    roundTrip.record(connection.sample().srttMicros() * NANOS_PER_MICRO);
    rate.record((long) estimate.bytesPerSecond());
    loss.record(estimate.hasLost() ? (long) (estimate.lossEventRate() * NANO) : 0);
    buffer.record(connection.pendingBytes());
  }
}
