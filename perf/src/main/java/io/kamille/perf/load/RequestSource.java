package io.kamille.perf.load;

/** What is asked for next. Confined to the client's thread. */
@FunctionalInterface
public interface RequestSource {

  /** The next request to send. */
  LoadRequest next();

  /** The same again and again. */
  static RequestSource always(LoadRequest request) {
    return () -> request;
  }
}
