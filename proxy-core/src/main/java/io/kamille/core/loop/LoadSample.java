package io.kamille.core.loop;

/**
 * What one loop did in a stretch of time.
 *
 * @param elapsedNanos how long it was
 * @param polls that returned
 * @param events that they brought
 * @param requests that were answered; events if nobody has counted a request yet
 * @param forwarded of them, that an origin was asked about
 * @param forwardedNanos how long those took in all
 * @param busyNanos from the return of a poll to the end of its turn, of all turns together
 * @param cpuNanos processor time the thread used
 */
record LoadSample(
    long elapsedNanos,
    long polls,
    long events,
    long requests,
    long forwarded,
    long forwardedNanos,
    long busyNanos,
    long cpuNanos) {

  double eventsPerNano() {
    return elapsedNanos == 0 ? 0 : (double) events / elapsedNanos;
  }

  /** The share of the time in which the loop was busy, 0–1. */
  double utilisation() {
    return elapsedNanos == 0 ? 0 : Math.min(1, (double) busyNanos / elapsedNanos);
  }

  /**
   * How long an event waited for its poll and in its batch, at the median. One that came while the
   * loop paused or worked waited for the next poll, and then for half of its batch. Without pauses,
   * only one that came while the loop worked waited.
   */
  double waitNanos(boolean hasPaused) {
    double waiting = hasPaused ? elapsedNanos : utilisation() * busyNanos;
    return polls <= 0 ? 0 : (waiting + busyNanos) / 2 / polls;
  }
}
