package io.kamille.admin.api;

import io.kamille.admin.view.ApplianceView;
import io.kamille.core.http.StatusCode;

/** {@code GET /readyz}: whether to send requests here. */
final class Readiness implements Resource {

  private final ApplianceView appliance;

  Readiness(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.open("/readyz", "Says whether to send requests here.")
        .answersAs("text/plain")
        .immediately();
  }

  @Override
  public Answer answer(AdminRequest request) {
    return switch (appliance.state()) {
      case STARTING -> Answer.text(StatusCode.SERVICE_UNAVAILABLE, "starting");
      case READY -> Answer.text(StatusCode.OK, "ready");
      case DRAINING -> Answer.text(StatusCode.SERVICE_UNAVAILABLE, "draining");
    };
  }
}
