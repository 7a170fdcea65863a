package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.http.StatusCode;

/** {@code DELETE /v1/upstreams/{upstream}/origins/{origin}}: removes what the API has added. */
final class OriginRemoval implements Resource {

  private final ApplianceView appliance;

  OriginRemoval(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.delete(
        OriginChange.PATH, Scope.OPERATE, "Removes an origin that the API has added.");
  }

  @Override
  public Answer answer(AdminRequest request) {
    return appliance.endLease(request.parameter("upstream"), request.parameter("origin"))
        ? Answer.nothing()
        : Answer.problem(StatusCode.NOT_FOUND, "The API has added no such origin.");
  }
}
