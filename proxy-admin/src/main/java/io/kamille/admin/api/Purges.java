package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.cache.purge.PurgeTarget.Kind;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.core.http.StatusCode;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** {@code POST /v1/cache/purges}: purges what the content names. */
final class Purges implements Resource {

  static final String PATH = "/v1/cache/purges";

  private static final String FULL =
      "Too many purges wait to be swept, or dry runs to be counted. Try again.";

  private final ApplianceView appliance;

  Purges(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.post(PATH, Scope.PURGE, "Purges by URL, prefix, host or tag, or everything.");
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    return answer(PurgeOrder.of(JsonContent.of(request)));
  }

  private Answer answer(PurgeOrder order) {
    PurgeReport report =
        order.isDryRun()
            ? appliance.countPurge(order.target(), order.isSoft())
            : appliance.purge(order.target(), order.isSoft());
    return report == null
        ? Answer.problem(StatusCode.SERVICE_UNAVAILABLE, FULL).with("Retry-After", "1")
        : Answer.json(order.target().kind() == Kind.URL ? atOnce(report) : begun(report));
  }

  private static Map<String, Object> atOnce(PurgeReport report) {
    return Map.of(counted(report), report.responses());
  }

  private static Map<String, Object> begun(PurgeReport report) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("id", report.id());
    answer.put("state", report.state());
    return answer;
  }

  /** A purge with all that who asks may know of it. */
  static Map<String, Object> present(PurgeReport report, AdminRequest request) {
    Map<String, Object> purge = new LinkedHashMap<>();
    purge.put("id", report.id());
    purge.put("kind", report.target().kind());
    purge.put("of", request.shown(report.target().shown()));
    purge.put("mode", report.isSoft() ? "soft" : "hard");
    purge.put("time", Instant.ofEpochSecond(report.epochSeconds()).toString());
    purge.put("state", report.state());
    purge.put(counted(report), report.responses());
    return purge;
  }

  private static String counted(PurgeReport report) {
    return report.isDryRun() ? "matched" : "purged";
  }
}
