package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.tuning.LossModel;
import io.kamille.admin.tuning.TuningPolicy;
import io.kamille.admin.tuning.TuningSettings;
import java.util.Map;

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
    tuner.settings(settings(JsonContent.texts(request, EXPECTED), tuner.settings()));
    return Tuning.present(tuner);
  }

  /** What {@code members} ask for, and for what they do not name what holds. */
  private static TuningSettings settings(Map<String, String> members, TuningSettings present)
      throws InvalidRequest {
    TuningSettings next = present;
    for (Map.Entry<String, String> member : members.entrySet()) {
      String name = member.getKey();
      String text = member.getValue();
      next =
          switch (name) {
            case "policy" -> next.with(JsonContent.value(name, text, TuningPolicy.type()));
            case "model" -> next.with(JsonContent.value(name, text, LossModel.type()));
            case "budget" ->
                next.withBudget(JsonContent.value(name, text, TuningSettings.budgetType()));
            default -> throw new InvalidRequest(EXPECTED);
          };
    }
    return next;
  }
}
