package io.kamille.admin.api;

import java.util.function.Supplier;

/** One operation on a resource of the control plane. Confined to the control thread. */
public interface Resource {

  /** What is asked for, by whom, and what the API's description says of it. Always the same. */
  Operation operation();

  /** Answers a request for this operation by somebody who may make it. */
  Answer answer(AdminRequest request) throws InvalidRequest;

  /** Answers requests for an operation. */
  @FunctionalInterface
  interface Handler {
    /**
     * Answers.
     *
     * @param query empty if the operation has no parameters
     */
    Answer answer(AdminRequest request, Query query) throws InvalidRequest;
  }

  /** An operation and what answers it. */
  static Resource of(Operation operation, Handler handler) {
    return new Resource() {
      @Override
      public Operation operation() {
        return operation;
      }

      @Override
      public Answer answer(AdminRequest request) throws InvalidRequest {
        return handler.answer(
            request, operation.parameters().isEmpty() ? Query.NONE : Query.of(request, operation));
      }
    };
  }

  /** The same, for an answer that does not depend on the request. */
  static Resource of(Operation operation, Supplier<Answer> answer) {
    return of(operation, (_, _) -> answer.get());
  }
}
