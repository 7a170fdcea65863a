package io.kamille.admin.api;

import io.kamille.admin.metric.PrometheusText;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.ValueTypes;
import java.util.List;
import java.util.Map;

/** Whether the process lives, what it counts, and what problems mean. */
final class ProcessResources {

  private ProcessResources() {}

  static List<Operation> of(PrometheusText metrics) {
    return List.of(
        Operation.open("/healthz", "Says that this process lives.")
            .answersAs("text/plain")
            .immediately()
            .by(() -> Answer.text(StatusCode.OK, "ok")),
        Operation.open("/metrics", "Every metric in the text format of Prometheus.")
            .answersAs("text/plain")
            .by(
                () ->
                    new Answer(
                        StatusCode.OK, PrometheusText.MEDIA_TYPE, metrics.octets(), Map.of())),
        Operation.open("/problems/{name}", "The meaning of a type of problem, and what to do.")
            .answersAs("text/plain; charset=utf-8")
            .by((request, _) -> problem(request.parameter("name"))));
  }

  private static Answer problem(String name) {
    ProblemType type = ValueTypes.oneOf(ProblemType.values()).parse(name);
    return type == null
        ? Answer.problem(StatusCode.NOT_FOUND, "There is no such type of problem.")
        : Answer.text(StatusCode.OK, type.title() + " (" + type.status() + ").\n" + type.advice());
  }
}
