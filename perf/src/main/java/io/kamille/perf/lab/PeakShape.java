package io.kamille.perf.lab;

import io.kamille.perf.load.RateSchedule;
import java.time.Duration;

/**
 * A load with a peak in it: off the peak, at it, off it again.
 *
 * @param rampSeconds of each way between them; 0 for none, which the paper calls convex
 */
record PeakShape(double offPeakRate, double peakRate, int partSeconds, int rampSeconds) {

  /** Seconds of a run, the first one included, the last one not. */
  record Stretch(int from, int to) {}

  RateSchedule schedule() {
    Duration part = Duration.ofSeconds(partSeconds);
    Duration ramp = Duration.ofSeconds(rampSeconds);
    RateSchedule before = RateSchedule.steady(offPeakRate, part);
    return rampSeconds == 0
        ? before.step(peakRate, part).step(offPeakRate, part)
        : before
            .ramp(peakRate, ramp)
            .step(peakRate, part)
            .ramp(offPeakRate, ramp)
            .step(offPeakRate, part);
  }

  int seconds() {
    return 3 * partSeconds + 2 * rampSeconds;
  }

  Stretch offPeak() {
    return new Stretch(0, partSeconds);
  }

  Stretch peak() {
    int begin = partSeconds + rampSeconds;
    return new Stretch(begin, begin + partSeconds);
  }

  /** The way into the peak, and the first half of it. */
  Stretch into() {
    return new Stretch(partSeconds, partSeconds + rampSeconds + partSeconds / 2);
  }

  /** When a peak is noticed, by somebody who looks once a second. */
  Stretch noticed() {
    return new Stretch(partSeconds, peak().to() + 1);
  }

  /** The second half of the peak, the way out of it, and the rest. */
  Stretch outOf() {
    return new Stretch(into().to(), seconds());
  }
}
