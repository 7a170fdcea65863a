package io.kamille.perf.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** How many requests per second are to arrive, over time: steps and ramps, one after another. */
public final class RateSchedule {

  /*
   * The rate is a chain of straight lines, so the count expected until t is a chain of parabolas.
   * Both directions are closed forms: y = r t + s t²/2, and back t = 2 y / (r + √(r² + 2 s y)),
   * which is exact for a slope of zero too and never subtracts what is nearly equal.
   */
  private record Phase(
      long beginNanos, long endNanos, double beginRate, double endRate, double before) {

    private double seconds() {
      return (endNanos - beginNanos) / NANOS_PER_SECOND;
    }

    private double slope() {
      return (endRate - beginRate) / seconds();
    }

    private double rateAt(long nanos) {
      return beginRate + slope() * ((nanos - beginNanos) / NANOS_PER_SECOND);
    }

    private double countAtEnd() {
      return before + (beginRate + endRate) / 2 * seconds();
    }

    private long nanosAtCount(double count) {
      double missing = count - before;
      if (missing <= 0) {
        return beginNanos;
      }
      double root = Math.sqrt(Math.max(0, beginRate * beginRate + 2 * slope() * missing));
      return beginNanos + Math.round(2 * missing / (beginRate + root) * NANOS_PER_SECOND);
    }
  }

  /** No time: the count is never reached. */
  static final long NEVER = Long.MAX_VALUE;

  private static final double NANOS_PER_SECOND = 1e9;

  private final List<Phase> phases;

  private RateSchedule(List<Phase> phases) {
    this.phases = phases;
  }

  /** The same rate all the time. */
  public static RateSchedule steady(double ratePerSecond, Duration duration) {
    return new RateSchedule(List.of()).step(ratePerSecond, duration);
  }

  /** This, and then at once another rate. */
  public RateSchedule step(double ratePerSecond, Duration duration) {
    return then(ratePerSecond, ratePerSecond, duration);
  }

  /** This, and then a rate that goes from the last one to another in a straight line. */
  public RateSchedule ramp(double toRatePerSecond, Duration duration) {
    return then(phases.isEmpty() ? 0 : phases.getLast().endRate, toRatePerSecond, duration);
  }

  private RateSchedule then(double beginRate, double endRate, Duration duration) {
    if (!(endRate >= 0 && Double.isFinite(endRate))) {
      throw new IllegalArgumentException("rate: " + endRate + " (expected: 0 or more per second)");
    }
    if (!duration.isPositive()) {
      throw new IllegalArgumentException("duration: " + duration + " (expected: more than zero)");
    }
    long begin = durationNanos();
    var longer = new ArrayList<>(phases);
    longer.add(new Phase(begin, begin + duration.toNanos(), beginRate, endRate, expectedCount()));
    return new RateSchedule(List.copyOf(longer));
  }

  /** How long it lasts. */
  public long durationNanos() {
    return phases.isEmpty() ? 0 : phases.getLast().endNanos;
  }

  /** How many requests are expected to arrive in all. */
  public double expectedCount() {
    return phases.isEmpty() ? 0 : phases.getLast().countAtEnd();
  }

  /** The rate so long after the beginning; 0 when all is over. */
  public double ratePerSecond(long nanos) {
    for (Phase phase : phases) {
      if (nanos < phase.endNanos) {
        return phase.rateAt(nanos);
      }
    }
    return 0;
  }

  /** When the expected count reaches that many, in nanoseconds; {@link #NEVER} if it does not. */
  long nanosAtCount(double count) {
    for (Phase phase : phases) {
      if (count < phase.countAtEnd()) {
        return phase.nanosAtCount(count);
      }
    }
    return NEVER;
  }
}
