package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.metric.PrometheusText;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.ApplianceView.CacheSnapshot;
import io.kamille.admin.view.ApplianceView.ListenerSnapshot;
import io.kamille.admin.view.ApplianceView.LoopSnapshot;
import io.kamille.admin.view.ApplianceView.ReloadSnapshot;
import io.kamille.admin.view.UpstreamSnapshot;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Whether the process lives and is ready, what it counts, and the appliance at a glance. */
final class ProcessResources {

  private ProcessResources() {}

  /**
   * The operations.
   *
   * @param isConfigurable whether {@code /v1/config} is served
   */
  static List<Operation> of(
      ApplianceView appliance, PrometheusText metrics, WallClock clock, boolean isConfigurable) {
    return List.of(
        Operation.open("/healthz", "Says that this process lives.")
            .answersAs("text/plain")
            .immediately()
            .by(() -> Answer.text(StatusCode.OK, "ok")),
        Operation.open("/readyz", "Says whether to send requests here.")
            .answersAs("text/plain")
            .immediately()
            .by(() -> readiness(appliance)),
        Operation.open("/metrics", "Every metric in the text format of Prometheus.")
            .answersAs("text/plain")
            .by(
                () ->
                    new Answer(
                        StatusCode.OK, PrometheusText.MEDIA_TYPE, metrics.octets(), Map.of())),
        Operation.open("/problems/{name}", "The meaning of a type of problem, and what to do.")
            .answersAs("text/plain; charset=utf-8")
            .by((request, _) -> problem(request.parameter("name"))),
        Operation.get("/v1/status", Scope.READ, "The appliance at a glance.")
            .answers(Status.class)
            .by(() -> Answer.json(status(appliance, clock, isConfigurable))));
  }

  /** Without certificates, too: else a load balancer would keep the authority away. */
  private static Answer readiness(ApplianceView appliance) {
    long missing = appliance.missingCertificates();
    return switch (appliance.state()) {
      case STARTING -> Answer.text(StatusCode.SERVICE_UNAVAILABLE, "starting");
      case READY ->
          Answer.text(
              StatusCode.OK,
              missing == 0 ? "ready" : "ready\ncertificates: waiting for " + missing);
      case DRAINING -> Answer.text(StatusCode.SERVICE_UNAVAILABLE, "draining");
    };
  }

  private static Answer problem(String name) {
    ProblemType type = ProblemType.of(name);
    return type == null
        ? Answer.problem(StatusCode.NOT_FOUND, "There is no such type of problem.")
        : Answer.text(StatusCode.OK, type.title() + " (" + type.status() + ").\n" + type.advice());
  }

  private static Status status(ApplianceView appliance, WallClock clock, boolean isConfigurable) {
    long started = appliance.startedEpochMillis();
    return new Status(
        appliance.version(),
        appliance.state(),
        Instant.ofEpochMilli(started).toString(),
        (clock.epochMillis() - started) / 1000,
        appliance.listeners(),
        appliance.loops(),
        appliance.cache(),
        appliance.upstreams(),
        appliance.reload(),
        isConfigurable,
        appliance.cluster() != null);
  }

  private record Status(
      String version,
      ApplianceView.State state,
      String started,
      long uptimeSeconds,
      List<ListenerSnapshot> listeners,
      List<LoopSnapshot> loops,
      CacheSnapshot cache,
      List<UpstreamSnapshot> upstreams,
      ReloadSnapshot reload,
      boolean configurable,
      boolean clustered) {}
}
