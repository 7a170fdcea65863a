package io.kamille.cache.fill;

/**
 * For how long a request may wait for the response of one forwarded before it (RFC 9111 §4).
 * Immutable.
 */
public sealed interface Wait {

  /** It has not waited yet. */
  enum NotBegun implements Wait {
    NOT_BEGUN
  }

  /**
   * It waits until then.
   *
   * @param deadlineNanos a moment of the monotonic clock
   */
  record Until(long deadlineNanos) implements Wait {}

  /** It waits as long as the request before it is under way. */
  enum ToTheEnd implements Wait {
    TO_THE_END
  }

  /** It does not wait any more. */
  enum Over implements Wait {
    OVER
  }
}
