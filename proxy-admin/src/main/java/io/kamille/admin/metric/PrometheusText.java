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
import java.util.List;

/** Our metrics and those of the Java runtime in Prometheus' text format. Any thread. */
public final class PrometheusText implements AutoCloseable {

  /** The media type of {@link #text}. */
  public static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final PrometheusMeterRegistry meters;
  private final JvmGcMetrics garbage = new JvmGcMetrics();

  /** The text about these metrics and about this process. */
  public PrometheusText(MetricRegistry registry) {
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

  /** The text with the present values. */
  public String text() {
    return meters.scrape();
  }

  @Override
  public void close() {
    garbage.close();
    meters.close();
  }
}
