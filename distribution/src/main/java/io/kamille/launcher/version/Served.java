package io.kamille.launcher.version;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.Resource;
import io.kamille.launcher.version.ConfigDocuments.Wrong;

/** An operation on the configuration; what is refused becomes a problem document. */
record Served(Operation operation, Handler handler) implements Resource {

  /** Answers requests. */
  interface Handler {
    Answer answer(AdminRequest request) throws InvalidRequest, Refused;
  }

  @Override
  public Answer answer(AdminRequest request) throws InvalidRequest {
    try {
      return handler.answer(request);
    } catch (Refused refused) {
      return problem(refused);
    }
  }

  private static Answer problem(Refused refused) {
    return Answer.problem(
        refused.type(),
        String.valueOf(refused.getMessage()),
        refused.problems().stream().map(Wrong::of).toList());
  }
}
