package io.kamille.admin.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PrometheusTextTest {

  private static final MetricDescriptor REQUESTS =
      MetricDescriptor.counter("kamille_cache_requests_total", "Requests by result.", "fwd");
  private static final MetricDescriptor USED =
      MetricDescriptor.gauge("kamille_arena_used_bytes", "Octets in use.");
  private static final MetricDescriptor DURATION =
      MetricDescriptor.histogram("kamille_request_duration_seconds", "From head | to end.");

  private final MetricRegistry registry = new MetricRegistry();
  private final PrometheusText text = new PrometheusText(registry);

  @AfterEach
  void close() {
    text.close();
  }

  @Test
  void aCounterKeepsItsName() {
    registry.counter(REQUESTS, "uri-miss").add(2);
    assertThat(text.text())
        .contains(
            """
            # HELP kamille_cache_requests_total Requests by result.
            # TYPE kamille_cache_requests_total counter
            kamille_cache_requests_total{fwd="uri-miss"} 2.0
            """);
  }

  /** Else a client without a token fills the heap of the data plane with copies of it. */
  @Test
  void whoeverAsksWithinATenthOfASecondGetsTheSameOctets() {
    long[] nanos = {0};
    try (var held = new PrometheusText(registry, () -> nanos[0])) {
      byte[] first = held.octets();
      nanos[0] = 99_999_999;
      assertThat(held.octets()).isSameAs(first);
      nanos[0] = 100_000_000;
      assertThat(held.octets()).isNotSameAs(first);
    }
  }

  @Test
  void aGaugeIsAskedAtEachReading() {
    double[] used = {1};
    registry.gauge(USED, () -> used[0]);
    assertThat(text.text())
        .contains("# TYPE kamille_arena_used_bytes gauge\nkamille_arena_used_bytes 1.0\n");
    used[0] = 2;
    assertThat(text.text()).contains("\nkamille_arena_used_bytes 2.0\n");
  }

  @Test
  void aHistogramHasCumulativeBucketsInSeconds() {
    Histogram histogram = registry.histogram(DURATION);
    histogram.record(1_000);
    histogram.record(1_000_000);
    histogram.record(500_000_000_000L);
    assertThat(text.text())
        .contains(
            "# TYPE kamille_request_duration_seconds histogram\n",
            "kamille_request_duration_seconds_bucket{le=\"1.024E-6\"} 1\n",
            "kamille_request_duration_seconds_bucket{le=\"7.86432E-4\"} 1\n",
            "kamille_request_duration_seconds_bucket{le=\"0.001048576\"} 2\n",
            "kamille_request_duration_seconds_bucket{le=\"137.438953472\"} 2\n",
            "kamille_request_duration_seconds_bucket{le=\"+Inf\"} 3\n",
            "kamille_request_duration_seconds_count 3\n",
            "kamille_request_duration_seconds_sum 500.001001\n");
  }

  @Test
  void theRuntimeIsThere() {
    assertThat(text.text())
        .contains(
            "\njvm_memory_used_bytes{",
            "\njvm_gc_",
            "\njvm_threads_live_threads ",
            "\nprocess_cpu_usage ",
            "\nprocess_files_open_files ",
            "\nprocess_uptime_seconds ");
  }
}
