package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.tuning.TuningSettings;
import io.kamille.admin.tuning.TuningSnapshot;
import java.util.Map;

/** {@code GET /v1/tuning}: how send buffers are shared. */
final class Tuning implements Resource {

  static final String PATH = "/v1/tuning";

  private final BufferTuner tuner;

  Tuning(BufferTuner tuner) {
    this.tuner = tuner;
  }

  @Override
  public Operation operation() {
    return Operation.get(PATH, Scope.READ, "How send buffers are shared.").answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) {
    return present(tuner);
  }

  /** How they are shared at this moment. */
  static Answer present(BufferTuner tuner) {
    TuningSnapshot now = tuner.snapshot();
    TuningSettings settings = now.settings();
    return Answer.json(
        new Document(
            settings.policy().token(),
            settings.model().token(),
            settings.budgetBytes(),
            settings.headroom(),
            settings.period().toMillis(),
            now.budgetBytes(),
            now.pressure(),
            now.allocatedBytes(),
            now.heldBytes(),
            now.fairness(),
            now.connections(),
            now.fixed()));
  }

  record Document(
      String policy,
      String model,
      long budgetBytes,
      double headroom,
      long periodMillis,
      long budgetInForceBytes,
      double memoryPressure,
      long allocatedBytes,
      long heldBytes,
      double fairness,
      Map<String, Integer> connections,
      int fixedUntilTheyClose) {}
}
