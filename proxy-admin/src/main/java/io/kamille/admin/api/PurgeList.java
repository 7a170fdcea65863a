package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import java.util.List;
import java.util.Map;

/** {@code GET /v1/cache/purges}: the last purges and how far they have come. */
final class PurgeList implements Resource {

  private final ApplianceView appliance;

  PurgeList(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.get(Purges.PATH, Scope.READ, "The last purges and how far they have come.");
  }

  @Override
  public Answer answer(AdminRequest request) {
    List<Map<String, Object>> purges =
        appliance.purges().stream().map(report -> Purges.present(report, request)).toList();
    return Answer.json(Map.of("purges", purges));
  }
}
