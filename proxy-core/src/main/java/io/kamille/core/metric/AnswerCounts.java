package io.kamille.core.metric;

/**
 * What one loop has answered so far. Immutable.
 *
 * @param requests that are over
 * @param forwarded those of them that an origin was asked about
 * @param forwardedNanos how long these took in all
 */
public record AnswerCounts(long requests, long forwarded, long forwardedNanos) {

  /** Nobody counts. */
  public static final AnswerCounts NONE = new AnswerCounts(0, 0, 0);
}
