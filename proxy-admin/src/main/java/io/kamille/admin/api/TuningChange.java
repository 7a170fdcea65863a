package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.tuning.LossModel;
import io.kamille.admin.tuning.TuningPolicy;
import io.kamille.admin.tuning.TuningSettings;
import io.kamille.core.setting.Parsed;
import io.kamille.core.setting.ValueType;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** {@code PUT /v1/tuning}: another policy, on the running process. */
final class TuningChange implements Resource {

  private static final String EXPECTED =
      "The content must be an object with any of policy, model and budget, all strings.";

  private final BufferTuner tuner;

  TuningChange(BufferTuner tuner) {
    this.tuner = tuner;
  }

  @Override
  public Operation operation() {
    return Operation.put(
            Tuning.PATH,
            Scope.OPERATE,
            "Changes how send buffers of the running process are tuned.")
        .answers(Tuning.Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    tuner.settings(settings(JsonContent.of(request), tuner.settings()));
    return Tuning.present(tuner);
  }

  /** What {@code document} asks for, and for what it does not name what holds. */
  private static TuningSettings settings(JsonNode document, TuningSettings present)
      throws InvalidRequest {
    if (!document.isObject() || document.isEmpty()) {
      throw new InvalidRequest(EXPECTED);
    }
    TuningSettings next = present;
    for (Map.Entry<String, JsonNode> member : document.properties()) {
      String name = member.getKey();
      if (!member.getValue().isString()) {
        throw new InvalidRequest(EXPECTED);
      }
      String text = member.getValue().stringValue();
      next =
          switch (name) {
            case "policy" -> next.with(value(name, text, TuningPolicy.type()));
            case "model" -> next.with(value(name, text, LossModel.type()));
            case "budget" -> next.withBudget(value(name, text, TuningSettings.budgetType()));
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
