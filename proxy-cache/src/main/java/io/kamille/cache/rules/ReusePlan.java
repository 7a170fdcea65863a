package io.kamille.cache.rules;

/**
 * What to do with a request: everything RFC 9111 has to say about it, decided before anything is
 * done. The stored response meant is the one whose facts the planner was given. The plan of a hit
 * is shared: it makes no garbage.
 */
public sealed interface ReusePlan {

  /** A token for people and programs. */
  default String token() {
    return switch (this) {
      case Answer.SERVE -> "serve";
      case Answer.SERVE_STALE -> "serve-stale";
      case Answer.REFUSE -> "refuse";
      case Validate validate -> "validate";
      case Forward forward -> "forward";
    };
  }

  /** The origin is not waited for. */
  enum Answer implements ReusePlan {
    /** Answer with the stored response as it is. */
    SERVE,
    /** Answer with the stored response, and validate it in the background (RFC 5861 §3). */
    SERVE_STALE,
    /** Answer 504 (Gateway Timeout): only-if-cached, and nothing usable is stored (§5.2.1.7). */
    REFUSE
  }

  /** Ask the origin whether the stored response is still good (RFC 9111 §4.3). */
  record Validate(ForwardReason reason) implements ReusePlan {}

  /**
   * Ask the origin for the response. A stored one may exist, without validator, and may still serve
   * {@linkplain StoredFacts#mayServeOnError in place of an error}.
   */
  record Forward(ForwardReason reason) implements ReusePlan {}
}
