package io.kamille.perf.compare;

import io.kamille.perf.load.FaultyOrigin.Arrival;
import io.kamille.perf.load.FaultyOrigin.Role;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

/** Reads from when origins were asked when one of them was taken out, or brought back. Pure. */
final class FaultTimeline {

  /*
   * Time is cut into windows of a quarter of a second. An origin is out from the end of the last
   * window in which it got more than probes, a fifth of its share, if it stays so for a second; it
   * is back with the beginning of the first half of a second in which it got four fifths of its
   * share: the rest is chance.
   */
  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final int OUT_WINDOWS = 4;
  private static final int BACK_WINDOWS = 2;
  private static final double OUT_SHARE = 0.2;
  private static final double BACK_SHARE = 0.8;
  private static final double NANOS_PER_SECOND = 1e9;

  private final int[] faulty;
  private final int[] all;
  private final double share;

  /**
   * What came between two instants.
   *
   * @param origins how many there are
   * @param beginNanos of the same clock as the arrivals
   */
  FaultTimeline(List<Arrival> arrivals, int origins, long beginNanos, long endNanos) {
    share = 1.0 / origins;
    int windows = (int) Math.max(0, (endNanos - beginNanos) / WINDOW_NANOS);
    faulty = new int[windows];
    all = new int[windows];
    for (Arrival arrival : arrivals) {
      long window = Math.floorDiv(arrival.nanos() - beginNanos, WINDOW_NANOS);
      if (window >= 0 && window < windows) {
        all[(int) window]++;
        faulty[(int) window] += arrival.role() == Role.FAULTY ? 1 : 0;
      }
    }
  }

  /**
   * Seconds until the faulty one got no more than probes to the end; empty if it still gets more.
   */
  OptionalDouble outSeconds() {
    int window = all.length;
    while (window > 0 && faulty[window - 1] <= OUT_SHARE * share * all[window - 1]) {
      window--;
    }
    return window > all.length - OUT_WINDOWS
        ? OptionalDouble.empty()
        : OptionalDouble.of(seconds(window));
  }

  /** Seconds until it got its share again; empty if it did not. */
  OptionalDouble backSeconds() {
    for (int window = 0; window + BACK_WINDOWS <= all.length; window++) {
      int asked = 0;
      int here = 0;
      for (int i = window; i < window + BACK_WINDOWS; i++) {
        asked += all[i];
        here += faulty[i];
      }
      if (asked > 0 && here >= BACK_SHARE * share * asked) {
        return OptionalDouble.of(seconds(window));
      }
    }
    return OptionalDouble.empty();
  }

  private static double seconds(int window) {
    return window * WINDOW_NANOS / NANOS_PER_SECOND;
  }
}
