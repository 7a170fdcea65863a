package io.kamille.cache.tiers.peak;

/**
 * What happened between two looks at the disk.
 *
 * @param nanos how long that was
 * @param reads reads for requests that ended
 * @param waitNanos how long these had waited for a thread, together
 * @param serviceNanos how long they then took, together
 * @param underWay reads that wait or run at its end
 * @param skippedReads requests that the disk was not read for
 * @param origins response heads that came from origins
 * @param originNanos how long they took, together
 * @param requests all requests
 */
record PeakWindow(
    long nanos,
    long reads,
    long waitNanos,
    long serviceNanos,
    long underWay,
    long skippedReads,
    long origins,
    long originNanos,
    long requests) {

  private static final double NANOS_PER_SECOND = 1e9;

  /** How many threads read the disk ({@code tiers.WorkerThreads}). */
  private static final double READERS = 4;

  /** What happened behind another that began at the same time; what is under way is so now. */
  PeakWindow since(PeakWindow before) {
    return new PeakWindow(
        nanos - before.nanos,
        reads - before.reads,
        waitNanos - before.waitNanos,
        serviceNanos - before.serviceNanos,
        underWay,
        skippedReads - before.skippedReads,
        origins - before.origins,
        originNanos - before.originNanos,
        requests - before.requests);
  }

  /** How long a request waited for the disk, on average; 0 if none did. */
  double readNanos() {
    return reads == 0 ? 0 : (double) (waitNanos + serviceNanos) / reads;
  }

  /**
   * How long a request will wait that comes at its end, if the disk goes on like that: for what is
   * before it, too. What has waited for long shows in {@link #readNanos} only when it ends.
   */
  double nextReadNanos() {
    return meanServiceNanos() * Math.max(1, underWay / READERS);
  }

  /** The longer of the two. */
  double expectedReadNanos() {
    return Math.max(readNanos(), nextReadNanos());
  }

  /** How long the disk itself took, on average. */
  double meanServiceNanos() {
    return reads == 0 ? 0 : (double) serviceNanos / reads;
  }

  /** How many reads waited or ran at a time, on average (J. D. C. Little, 1961). */
  double queue() {
    return nanos <= 0 ? 0 : (double) (waitNanos + serviceNanos) / nanos;
  }

  /** How many reads ended, each second. */
  double readsPerSecond() {
    return nanos <= 0 ? 0 : reads * NANOS_PER_SECOND / nanos;
  }

  /** How many reads requests wanted, each second, whether or not the disk was read. */
  double wantedPerSecond() {
    return nanos <= 0 ? 0 : (reads + skippedReads) * NANOS_PER_SECOND / nanos;
  }

  double meanOriginNanos() {
    return origins == 0 ? 0 : (double) originNanos / origins;
  }

  double requestsPerSecond() {
    return nanos <= 0 ? 0 : requests * NANOS_PER_SECOND / nanos;
  }
}
