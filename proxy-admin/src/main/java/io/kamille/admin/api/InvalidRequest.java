package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;

/** A request asks for nothing that can be done. Becomes a problem document. */
public final class InvalidRequest extends Exception {

  private static final long serialVersionUID = 1;

  private final transient Answer answer;

  /** Refused with an answer of its own. */
  public InvalidRequest(Answer answer) {
    super("refused", null, false, false);
    this.answer = answer;
  }

  /** Refused with 400 and {@code reason} as its detail. */
  InvalidRequest(String reason) {
    this(Answer.problem(StatusCode.BAD_REQUEST, reason));
  }

  Answer answer() {
    return answer;
  }
}
