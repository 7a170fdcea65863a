package io.kamille.perf.load;

import java.util.SplittableRandom;

/** When requests are to be sent: one instant after another, never backwards. Confined. */
public final class Arrivals {

  /*
   * A Poisson process of varying rate is one of rate 1 seen through the inverse of the expected
   * count (Çinlar, Introduction to Stochastic Processes, 1975): gaps are drawn with mean 1, added
   * up, and the schedule says when that count is due. Gaps of exactly 1 give constant arrivals by
   * the same way. StrictMath makes a seed mean the same on every machine.
   */

  /** There is no further one. */
  public static final long NONE = RateSchedule.NEVER;

  private final RateSchedule schedule;
  private final boolean isPoisson;
  private final SplittableRandom random;
  private double count;

  private Arrivals(RateSchedule schedule, boolean isPoisson, long seed) {
    this.schedule = schedule;
    this.isPoisson = isPoisson;
    this.random = new SplittableRandom(seed);
    this.count = isPoisson ? gap() : 0;
  }

  /** With exponential gaps, as from many clients that know nothing of each other. */
  public static Arrivals poisson(RateSchedule schedule, long seed) {
    return new Arrivals(schedule, true, seed);
  }

  /** With equal gaps as long as the rate stays the same; the first at once. */
  public static Arrivals even(RateSchedule schedule) {
    return new Arrivals(schedule, false, 0);
  }

  /** The next instant, in nanoseconds after the beginning; {@link #NONE} after the last. */
  public long next() {
    long nanos = schedule.nanosAtCount(count);
    count += gap();
    return nanos;
  }

  /** How long they go on arriving. */
  long durationNanos() {
    return schedule.durationNanos();
  }

  private double gap() {
    return isPoisson ? -StrictMath.log(1 - random.nextDouble()) : 1;
  }
}
