package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;

/** {@code GET /healthz}: that this process lives and its control plane turns. */
final class Health implements Resource {

  @Override
  public String path() {
    return "/healthz";
  }

  @Override
  public String method() {
    return "GET";
  }

  @Override
  public Answer answer(AdminRequest request) {
    return Answer.text(StatusCode.OK, "ok");
  }
}
