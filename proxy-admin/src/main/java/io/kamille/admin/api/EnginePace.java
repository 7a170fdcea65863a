package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.Pacing;
import java.time.Duration;
import java.util.Map;

/** {@code PUT /v1/engine/loops}: another pace, on the running process. */
final class EnginePace implements Resource {

  private static final String EXPECTED =
      "The content must be an object with any of pacing, latencyBudget, leastSaving and spin,"
          + " all strings.";

  private final ApplianceView appliance;

  EnginePace(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.put(
            EngineLoops.PATH, Scope.OPERATE, "Changes the pace of the running process.")
        .answers(EngineLoops.Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    appliance.pace(pace(JsonContent.texts(request, EXPECTED), appliance.pace()));
    return EngineLoops.present(appliance);
  }

  /** What {@code members} ask for, and for what they do not name what holds. */
  private static PaceSettings pace(Map<String, String> members, PaceSettings present)
      throws InvalidRequest {
    PaceSettings next = present;
    for (Map.Entry<String, String> member : members.entrySet()) {
      String name = member.getKey();
      String text = member.getValue();
      next =
          switch (name) {
            case "pacing" -> next.with(JsonContent.value(name, text, Pacing.type()));
            case "latencyBudget" ->
                next.withLatencyBudget(
                    JsonContent.value(name, text, Pacing.latencyBudgetType()).toNanos());
            case "leastSaving" ->
                next.withLeastSaving(JsonContent.value(name, text, Pacing.leastSavingType()));
            case "spin" ->
                next.withSpinLimit(
                    JsonContent.value(name, text, Pacing.spinLimitType())
                        .orElse(Duration.ZERO)
                        .toNanos());
            default -> throw new InvalidRequest(EXPECTED);
          };
    }
    return next;
  }
}
