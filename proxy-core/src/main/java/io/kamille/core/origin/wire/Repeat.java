package io.kamille.core.origin.wire;

/** Whether a request that came to nothing may be sent once more (RFC 9110 §9.2.2). */
public enum Repeat {
  /** An octet of a response came, or one of content was taken from the client. */
  NEVER,
  /** If its method is idempotent: nobody knows how far the origin came. */
  IF_IDEMPOTENT,
  /** Whatever its method: the origin says that it did nothing (RFC 9113 §8.7). */
  ALWAYS
}
