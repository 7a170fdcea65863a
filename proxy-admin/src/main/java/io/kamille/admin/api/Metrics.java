package io.kamille.admin.api;

import io.kamille.admin.metric.PrometheusText;
import io.kamille.core.http.StatusCode;
import java.util.Map;

/** {@code GET /metrics}: everything that is counted, for Prometheus. */
final class Metrics implements Resource {

  private final PrometheusText metrics;

  Metrics(PrometheusText metrics) {
    this.metrics = metrics;
  }

  @Override
  public String path() {
    return "/metrics";
  }

  @Override
  public String method() {
    return "GET";
  }

  @Override
  public Answer answer(AdminRequest request) {
    return new Answer(StatusCode.OK, PrometheusText.MEDIA_TYPE, metrics.text(), Map.of());
  }
}
