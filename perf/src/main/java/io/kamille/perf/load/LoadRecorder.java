package io.kamille.perf.load;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Counts what becomes of the requests of one run. Confined to the client's thread. */
final class LoadRecorder {

  /*
   * Latency runs from the instant a request should have been sent to its last octet, whatever kept
   * the client from sending it: a server that stalls is charged for everybody who came meanwhile.
   * Lateness is the client's own part of it: how long after its instant it noticed a request.
   */

  private static final long GREATEST_NANOS = 60_000_000_000L;
  private static final int DIGITS = 3;
  private static final int WINDOW_DIGITS = 2;

  private final Histogram latency = new Histogram(GREATEST_NANOS, DIGITS);
  private final Histogram lateness = new Histogram(GREATEST_NANOS, DIGITS);
  private final long[] failures = new long[LoadFailure.values().length];
  private final long windowNanos;
  private final List<LoadWindow> windows = new ArrayList<>();
  private long offered;
  private long connects;

  /**
   * For one run.
   *
   * @param windowNanos of the windows that are kept apart as well; 0 for none
   */
  LoadRecorder(long durationNanos, long windowNanos) {
    this.windowNanos = windowNanos;
    if (windowNanos > 0) {
      for (long begin = 0; begin < durationNanos; begin += windowNanos) {
        windows.add(new LoadWindow(begin, new Histogram(GREATEST_NANOS, WINDOW_DIGITS)));
      }
    }
  }

  /** A request was noticed that should be sent at {@code intendedNanos}. */
  void due(long intendedNanos, long nanos) {
    offered++;
    record(lateness, nanos - intendedNanos);
  }

  /** Its response is complete and right. */
  void right(long intendedNanos, long nanos) {
    record(latency, nanos - intendedNanos);
    if (windowNanos > 0) {
      int window = (int) (intendedNanos / windowNanos);
      record(windows.get(window).latency(), nanos - intendedNanos);
    }
  }

  private static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.clamp(nanos, 0, GREATEST_NANOS));
  }

  void failed(LoadFailure failure) {
    failures[failure.ordinal()]++;
  }

  /** A connection was opened because a request needed it. */
  void connected() {
    connects++;
  }

  /**
   * The result, to be asked for once.
   *
   * @param nanos how long it took
   * @param idleNanos of them the client had nothing to do
   */
  LoadResult result(long nanos, long idleNanos) {
    Map<LoadFailure, Long> byKind = new EnumMap<>(LoadFailure.class);
    for (LoadFailure failure : LoadFailure.values()) {
      if (failures[failure.ordinal()] > 0) {
        byKind.put(failure, failures[failure.ordinal()]);
      }
    }
    return new LoadResult(
        offered, byKind, connects, nanos, nanos - idleNanos, latency, lateness, windows);
  }
}
