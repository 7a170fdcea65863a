package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;

/** {@code GET /problems/NAME}: what the address in a problem document leads to. */
final class ProblemPage implements Resource {

  @Override
  public Operation operation() {
    return Operation.open("/problems/{name}", "The meaning of a type of problem, and what to do.")
        .answersAs("text/plain; charset=utf-8");
  }

  @Override
  public Answer answer(AdminRequest request) {
    ProblemType type = ProblemType.of(request.parameter("name"));
    return type == null
        ? Answer.problem(StatusCode.NOT_FOUND, "There is no such type of problem.")
        : Answer.text(StatusCode.OK, type.title() + " (" + type.status() + ").\n" + type.advice());
  }
}
