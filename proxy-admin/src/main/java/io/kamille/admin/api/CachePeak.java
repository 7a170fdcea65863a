package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.core.http.StatusCode;
import tools.jackson.databind.JsonNode;

/** {@code PUT /v1/cache/tiers}: whether requests leave the disk alone, on the running process. */
final class CachePeak implements Resource {

  private static final String EXPECTED =
      "The content must be an object with peak, which is auto, off or forced.";

  private final ApplianceView appliance;

  CachePeak(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.put(CacheTiers.PATH, Scope.OPERATE, "Sets peak mode on the running process.")
        .answers(CacheTiers.Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    return appliance.choosePeak(choice(JsonContent.of(request)))
        ? CacheTiers.present(appliance)
        : Answer.problem(StatusCode.CONFLICT, "There is no disk behind memory.");
  }

  private static PeakChoice choice(JsonNode document) throws InvalidRequest {
    JsonNode peak = document.isObject() && document.size() == 1 ? document.get("peak") : null;
    if (peak != null && peak.isString()) {
      for (PeakChoice each : PeakChoice.values()) {
        if (each.token().equals(peak.stringValue())) {
          return each;
        }
      }
    }
    throw new InvalidRequest(EXPECTED);
  }
}
