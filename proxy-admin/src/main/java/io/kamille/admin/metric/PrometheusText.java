package io.kamille.admin.metric;

import io.kamille.core.metric.MetricRegistry;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Our metrics and those of the Java runtime in Prometheus' text format. Any thread. */
public final class PrometheusText implements AutoCloseable {

  /** The media type of {@link #text}. */
  public static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  /*
   * Everybody may ask for the text, and each one makes some ten times its size of garbage in the
   * heap of the data plane. So a text is given again for a moment, as the same octets.
   */
  private static final long GIVEN_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final PrometheusMeterRegistry meters;
  private final JvmGcMetrics garbage = new JvmGcMetrics();
  private final LongSupplier nanos;
  private byte @Nullable [] last;
  private long lastNanos;

  /** The text about these metrics and about this process. */
  public PrometheusText(MetricRegistry registry) {
    this(registry, System::nanoTime);
  }

  PrometheusText(MetricRegistry registry, LongSupplier nanos) {
    this.nanos = nanos;
    PrometheusRegistry prometheus = new PrometheusRegistry();
    prometheus.register(new MetricCollector(registry));
    meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, prometheus, Clock.SYSTEM);
    for (MeterBinder binder :
        List.of(
            garbage,
            new JvmMemoryMetrics(),
            new JvmThreadMetrics(),
            new ProcessorMetrics(),
            new FileDescriptorMetrics(),
            new UptimeMetrics())) {
      binder.bindTo(meters);
    }
  }

  /** The text in UTF-8, at most a tenth of a second old. Nobody may change the array. */
  public synchronized byte[] octets() {
    long now = nanos.getAsLong();
    byte[] octets = last;
    if (octets == null || now - lastNanos >= GIVEN_AGAIN_NANOS) {
      octets = text().getBytes(StandardCharsets.UTF_8);
      last = octets;
      lastNanos = now;
    }
    return octets;
  }

  /** The text with the present values. */
  String text() {
    return meters.scrape();
  }

  @Override
  public void close() {
    garbage.close();
    meters.close();
  }
}
