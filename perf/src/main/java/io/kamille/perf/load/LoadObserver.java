package io.kamille.perf.load;

/** Is told of each request that was sent when it is over, on the client's thread. */
@FunctionalInterface
public interface LoadObserver {

  /** One is over. */
  void ended(LoadOutcome outcome);
}
