package io.kamille.core.http;

/** What a response is about: the tags that an origin gave it, each as 64 bits. Immutable. */
public interface Topics {

  int size();

  /** The bits at that place. */
  long at(int index);
}
