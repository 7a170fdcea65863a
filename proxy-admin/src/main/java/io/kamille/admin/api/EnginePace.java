package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.Pacing;
import io.kamille.core.setting.Parsed;
import io.kamille.core.setting.ValueType;
import java.time.Duration;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** {@code PUT /v1/engine/loops}: another pace, on the running process. */
final class EnginePace implements Resource {

  private static final String EXPECTED =
      "The content must be an object with any of pacing, latencyBudget and spin, all strings.";

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
    appliance.pace(pace(JsonContent.of(request), appliance.pace()));
    return EngineLoops.present(appliance);
  }

  /** What {@code document} asks for, and for what it does not name what holds. */
  private static PaceSettings pace(JsonNode document, PaceSettings present) throws InvalidRequest {
    if (!document.isObject() || document.isEmpty()) {
      throw new InvalidRequest(EXPECTED);
    }
    PaceSettings next = present;
    for (Map.Entry<String, JsonNode> member : document.properties()) {
      String name = member.getKey();
      if (!member.getValue().isString()) {
        throw new InvalidRequest(EXPECTED);
      }
      String text = member.getValue().stringValue();
      next =
          switch (name) {
            case "pacing" -> next.with(value(name, text, Pacing.type()));
            case "latencyBudget" ->
                next.withLatencyBudget(value(name, text, Pacing.latencyBudgetType()).toNanos());
            case "spin" ->
                next.withSpinLimit(
                    value(name, text, Pacing.spinLimitType()).orElse(Duration.ZERO).toNanos());
            default -> throw new InvalidRequest(EXPECTED);
          };
    }
    return next;
  }

  private static <T> T value(String name, String text, ValueType<T> type) throws InvalidRequest {
    return switch (type.parse(text)) {
      case Parsed.Value<T>(T value) -> value;
      case Parsed.Refused<T>(String expected) ->
          throw new InvalidRequest(name + ": expected " + expected + ".");
    };
  }
}
