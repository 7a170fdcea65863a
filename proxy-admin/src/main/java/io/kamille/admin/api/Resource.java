package io.kamille.admin.api;

/** One operation on a resource of the control plane. Confined to the control thread. */
public interface Resource {

  /** What is asked for, by whom, and what the API's description says of it. Always the same. */
  Operation operation();

  /** Answers a request for this operation by somebody who may make it. */
  Answer answer(AdminRequest request) throws InvalidRequest;
}
