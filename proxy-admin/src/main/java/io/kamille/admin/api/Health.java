package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;

/** {@code GET /healthz}: that this process lives and its control plane turns. */
final class Health implements Resource {

  @Override
  public Operation operation() {
    return Operation.open("/healthz", "Says that this process lives.")
        .answersAs("text/plain")
        .immediately();
  }

  @Override
  public Answer answer(AdminRequest request) {
    return Answer.text(StatusCode.OK, "ok");
  }
}
