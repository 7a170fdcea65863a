package io.kamille.core.loop;

import io.kamille.core.metric.AnswerCounts;

/** What one loop has answered, as whoever counts it says: nobody does at first. Any thread. */
final class ReplaceableCounts implements AnswerCounts {

  // Volatile: whoever assembles the appliance says it, the loop asks a hundred times a second.
  private volatile AnswerCounts counts = NONE;

  void countedBy(AnswerCounts given) {
    counts = given;
  }

  @Override
  public long requests() {
    return counts.requests();
  }

  @Override
  public long forwarded() {
    return counts.forwarded();
  }

  @Override
  public long forwardedNanos() {
    return counts.forwardedNanos();
  }
}
