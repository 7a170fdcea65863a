package io.kamille.core.upstream;

import java.time.Duration;

/**
 * When an origin gets no more requests, judged by those it had, and how it comes back.
 *
 * @param failuresUntilOut requests in a row without an answer that put it out
 * @param failureRatio the share of requests that came to nothing, or were answered 502, 503 or 504,
 *     that puts it out; above 1 never
 * @param outFor how long it is left alone the first time; twice as long each time it fails again
 * @param longestOut the most of that
 * @param slowReturn how long its share of the requests takes to grow to the full one
 */
public record HealthPolicy(
    int failuresUntilOut,
    double failureRatio,
    Duration outFor,
    Duration longestOut,
    Duration slowReturn) {

  public static final HealthPolicy DEFAULTS =
      new HealthPolicy(
          3, 0.5, Duration.ofSeconds(5), Duration.ofMinutes(1), Duration.ofSeconds(10));

  public HealthPolicy {
    if (failuresUntilOut < 1 || !(failureRatio > 0)) {
      throw new IllegalArgumentException(
          "failuresUntilOut: "
              + failuresUntilOut
              + ", failureRatio: "
              + failureRatio
              + " (expected: 1 or more, above 0)");
    }
    if (!outFor.isPositive() || slowReturn.isNegative()) {
      throw new IllegalArgumentException(
          "outFor: " + outFor + ", slowReturn: " + slowReturn + " (expected: positive, 0 or more)");
    }
  }

  /** This with another number of failures in a row and another while. */
  public HealthPolicy with(int failuresUntilOut, Duration outFor) {
    return new HealthPolicy(failuresUntilOut, failureRatio, outFor, longestOut, slowReturn);
  }

  /** How long the origin is left alone when it is out for the {@code times}-th time on end. */
  long outNanos(int times) {
    long nanos = outFor.toNanos();
    long most = Math.max(nanos, longestOut.toNanos());
    for (int i = 1; i < times && nanos < most; i++) {
      nanos *= 2;
    }
    return Math.min(nanos, most);
  }

  /** How long it then counts as returning: if it fails meanwhile, the next while is longer. */
  long returnNanos() {
    return Math.max(slowReturn.toNanos(), outFor.toNanos());
  }
}
