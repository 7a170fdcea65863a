package io.kamille.core.origin.wire;

/** How far an origin may have come with a request that failed. */
public enum OriginProgress {
  /** It did nothing, because it ended the connection after other requests. */
  LEFT,
  /** It did nothing, and says so (RFC 9113 §8.7). */
  NONE,
  /** Nobody knows: it reset the stream, and its connection lives (RFC 9113 §5.4.2). */
  RESET,
  /** Nobody knows: the connection ended, or is of no more use. */
  UNKNOWN,
  /** An octet of a response came, or content was sent that is not at hand any more. */
  BEGUN;

  /** Whether the origin says that it did nothing. */
  public boolean isUntouched() {
    return this == LEFT || this == NONE;
  }
}
