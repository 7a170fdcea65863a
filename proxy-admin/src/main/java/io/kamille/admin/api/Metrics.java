package io.kamille.admin.api;

import io.kamille.admin.metric.PrometheusText;
import io.kamille.core.http.StatusCode;

/** {@code GET /metrics}: everything that is counted, for Prometheus. */
final class Metrics implements Resource {

  private final PrometheusText metrics;

  Metrics(PrometheusText metrics) {
    this.metrics = metrics;
  }

  @Override
  public Operation operation() {
    return Operation.open("/metrics", "Every metric in the text format of Prometheus.")
        .answersAs("text/plain");
  }

  @Override
  public Answer answer(AdminRequest request) {
    return Answer.of(StatusCode.OK, PrometheusText.MEDIA_TYPE, metrics.text());
  }
}
