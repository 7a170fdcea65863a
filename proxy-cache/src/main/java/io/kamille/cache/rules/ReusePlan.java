package io.kamille.cache.rules;

/**
 * What to do with a request: everything RFC 9111 has to say about it, decided before anything is
 * done. The stored response meant is the one whose facts the planner was given. Values are shared:
 * making a plan makes no garbage.
 */
public sealed interface ReusePlan {

  /** A token for people and programs. */
  default String token() {
    return switch (this) {
      case Serve.SERVE -> "serve";
      case ServeStale.SERVE_STALE -> "serve-stale";
      case Validate validate -> "validate";
      case Forward forward -> "forward";
      case Refuse.REFUSE -> "refuse";
    };
  }

  /** Answer with the stored response as it is. */
  enum Serve implements ReusePlan {
    SERVE
  }

  /** Answer with the stored response, and validate it in the background (RFC 5861 §3). */
  enum ServeStale implements ReusePlan {
    SERVE_STALE
  }

  /** Ask the origin whether the stored response is still good (RFC 9111 §4.3). */
  enum Validate implements ReusePlan {
    STALE(ForwardReason.STALE),
    REQUEST(ForwardReason.REQUEST);

    private final ForwardReason reason;

    Validate(ForwardReason reason) {
      this.reason = reason;
    }

    public ForwardReason reason() {
      return reason;
    }
  }

  /**
   * Ask the origin for the response. A stored one may exist, without validator, and may still serve
   * {@linkplain StoredFacts#mayServeOnError in place of an error}.
   */
  enum Forward implements ReusePlan {
    BYPASS(ForwardReason.BYPASS),
    METHOD(ForwardReason.METHOD),
    URI_MISS(ForwardReason.URI_MISS),
    VARY_MISS(ForwardReason.VARY_MISS),
    MISS(ForwardReason.MISS),
    REQUEST(ForwardReason.REQUEST),
    STALE(ForwardReason.STALE),
    PARTIAL(ForwardReason.PARTIAL);

    private final ForwardReason reason;

    Forward(ForwardReason reason) {
      this.reason = reason;
    }

    public ForwardReason reason() {
      return reason;
    }
  }

  /** Answer 504 (Gateway Timeout): only-if-cached, and nothing usable is stored (§5.2.1.7). */
  enum Refuse implements ReusePlan {
    REFUSE
  }
}
