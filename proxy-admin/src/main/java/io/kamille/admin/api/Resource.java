package io.kamille.admin.api;

/** One resource of the control plane. Confined to its loop. */
interface Resource {

  String path();

  /** GET or POST; a resource has one method, and GET implies HEAD. */
  String method();

  /** Answers a request for this path with this method by someone who may make it. */
  Answer answer(AdminRequest request);
}
