package io.kamille.admin.api;

/** One resource of the control plane, by one of its methods. Confined to its loop. */
interface Resource {

  String path();

  /** GET, POST or PUT; a class has one method, and GET implies HEAD. */
  String method();

  /** Answers a request for this path with this method by someone who may make it. */
  Answer answer(AdminRequest request);
}
