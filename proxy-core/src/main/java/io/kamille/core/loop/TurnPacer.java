package io.kamille.core.loop;

/**
 * The least interval between two polls, counted from the return of the first to the call of the
 * second. Confined to its loop.
 */
final class TurnPacer {

  /*
   * Kawai, Kadobayashi and Yamaguchi, 2004 (docs/research.md, P1), Fig. 3: what the turn itself took
   * is part of the interval, and a turn that took longer leaves no rest.
   */
  private long intervalNanos;
  private long returnNanos;
  private boolean hasPolled;

  void interval(long nanos) {
    intervalNanos = nanos;
  }

  long intervalNanos() {
    return intervalNanos;
  }

  /** A poll returned. */
  void polled(long nowNanos) {
    returnNanos = nowNanos;
    hasPolled = true;
  }

  /** When the last poll returned; without meaning before the first. */
  long returnNanos() {
    return returnNanos;
  }

  /** What is left of the interval; zero or less when the next poll may be made. */
  long restNanos(long nowNanos) {
    return hasPolled ? intervalNanos - (nowNanos - returnNanos) : 0;
  }
}
