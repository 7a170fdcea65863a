package io.kamille.perf.load;

import org.jspecify.annotations.Nullable;

/**
 * What became of one request that was sent.
 *
 * @param intendedNanos when it should have been sent, after the beginning of the run
 * @param begunNanos when it was: when the connection was begun, if it needed a new one
 * @param firstNanos when the first octet of the response came; 0 if none did
 * @param source what the response says of it; means nothing after a failure
 * @param failure null for the right response
 */
public record LoadOutcome(
    LoadRequest request,
    long intendedNanos,
    long begunNanos,
    long firstNanos,
    AnswerSource source,
    @Nullable LoadFailure failure) {

  /** From the beginning of the connection to the first octet of the response. */
  public long firstOctetNanos() {
    return firstNanos - begunNanos;
  }
}
