package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;

/** A request asks for nothing that can be done. Becomes a problem document. */
public class InvalidRequest extends Exception {

  private static final long serialVersionUID = 1;

  private final transient Answer answer;

  /** Refused with an answer of its own, for the reason that it gives. */
  public InvalidRequest(String reason, Answer answer) {
    super(reason, null, false, false);
    this.answer = answer;
  }

  /** Refused with 400 and {@code reason} as its detail. */
  public InvalidRequest(String reason) {
    this(reason, Answer.problem(StatusCode.BAD_REQUEST, reason));
  }

  /** What is answered. */
  public Answer answer() {
    return answer;
  }
}
