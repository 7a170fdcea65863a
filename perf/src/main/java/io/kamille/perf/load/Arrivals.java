package io.kamille.perf.load;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

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

  /** Nothing here takes longer. */
  private static final Duration LONG = Duration.ofDays(30);

  private final RateSchedule schedule;
  private final boolean isPoisson;
  private final BooleanSupplier isOver;
  private final SplittableRandom random;
  private double count;

  private Arrivals(RateSchedule schedule, boolean isPoisson, long seed, BooleanSupplier isOver) {
    this.schedule = schedule;
    this.isPoisson = isPoisson;
    this.isOver = isOver;
    this.random = new SplittableRandom(seed);
    this.count = isPoisson ? gap() : 0;
  }

  /** With exponential gaps, as from many clients that know nothing of each other. */
  public static Arrivals poisson(RateSchedule schedule, long seed) {
    return new Arrivals(schedule, true, seed, () -> false);
  }

  /** With equal gaps as long as the rate stays the same; the first at once. */
  public static Arrivals even(RateSchedule schedule) {
    return new Arrivals(schedule, false, 0, () -> false);
  }

  /** With equal gaps, until that is true. A run with these has no rate of its own. */
  public static Arrivals even(double ratePerSecond, BooleanSupplier isOver) {
    return new Arrivals(RateSchedule.steady(ratePerSecond, LONG), false, 0, isOver);
  }

  /** The next instant, in nanoseconds after the beginning; {@link #NONE} after the last. */
  public long next() {
    if (isOver.getAsBoolean()) {
      return NONE;
    }
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
