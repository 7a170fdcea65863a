package io.kamille.core.loop;

/**
 * What one loop did in a stretch of time.
 *
 * @param elapsedNanos how long it was
 * @param polls that returned
 * @param events that they brought
 * @param requests that were answered; zero if nobody counts them
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

  /** A sleep, a wake-up and a system call cost no less than this anywhere. */
  private static final double LEAST_POLL_COST_NANOS = 2_000;

  double eventsPerNano() {
    return elapsedNanos == 0 ? 0 : (double) events / elapsedNanos;
  }

  /** What was achieved: requests, or events if nobody counts requests. */
  long achieved() {
    return requests > 0 ? requests : events;
  }

  double eventsPerPoll() {
    return polls == 0 ? 0 : (double) events / polls;
  }

  /** The share of the time in which the loop was busy, 0–1. */
  double utilisation() {
    return elapsedNanos == 0 ? 0 : Math.min(1, (double) busyNanos / elapsedNanos);
  }

  /** Processor time that a poll cost with the sleep and the wake-up around it, in nanoseconds. */
  double pollCostNanos() {
    return polls == 0
        ? LEAST_POLL_COST_NANOS
        : Math.max(LEAST_POLL_COST_NANOS, (double) (cpuNanos - busyNanos) / polls);
  }

  /** Processor time of an event, with its share of the polls, in nanoseconds. */
  double cpuNanosPerEvent() {
    return events == 0 ? 0 : (double) Math.max(cpuNanos, busyNanos) / events;
  }
}
