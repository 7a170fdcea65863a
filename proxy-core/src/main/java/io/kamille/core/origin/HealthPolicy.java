package io.kamille.core.origin;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * When an origin gets no more requests, judged by those it had, and how it comes back.
 *
 * @param failuresUntilOut requests in a row without an answer that put it out
 * @param failureRatio the share of requests that came to nothing, or were answered 502, 503 or 504,
 *     that puts it out; above 1 never
 * @param outFor how long it is left alone the first time; twice as long each time it fails again
 * @param check how it is asked whether it is well
 */
public record HealthPolicy(
    int failuresUntilOut, double failureRatio, Duration outFor, HealthCheck check) {

  public static final Subsection<HealthCheck> CHECK =
      HealthCheck.SECTION
          .one(
              "check",
              "Checks that Kamille sends by itself, beside judging requests. `check: http` is short"
                  + " for `check: {kind: http}`.")
          .withShorthand(HealthCheck.KIND);

  private static final Setting<Duration> OUT_FOR =
      Setting.of(
              "out-for",
              ValueTypes.duration(Duration.ofMillis(100), Duration.ofHours(1)),
              "How long such an origin stays out before one request tries it again. The time"
                  + " doubles whenever that request fails, up to twelve times `out-for`. Up to a"
                  + " quarter is added at random. An origin that comes back gets a tenth of its"
                  + " share first, and all of it after twice `out-for`.")
          .defaultsTo(Duration.ofSeconds(5));

  /** The settings under {@code health}. */
  public static final Section<HealthPolicy> SECTION =
      Section.of(
          HealthPolicy.class,
          Setting.of(
                  "failures",
                  ValueTypes.wholeNumber(1, 1_000),
                  "Consecutive failures after which an origin gets no more requests for a while. A"
                      + " failure is a connection refused or timed out, or an answer that did not"
                      + " come.")
              .defaultsTo(3),
          Setting.of(
                  "failure-ratio",
                  ValueTypes.orWord("off", Double.MAX_VALUE, ValueTypes.positiveRatio()),
                  "The share of failed requests that takes an origin out. It is counted over ten"
                      + " seconds, from 20 requests on; 502, 503 and 504 are failures too. Twenty"
                      + " failures in a row within the ten seconds also take it out. `off` switches"
                      + " off both.")
              .defaultsTo(0.5),
          OUT_FOR,
          CHECK);

  public static final HealthPolicy DEFAULTS = SECTION.defaults();

  /** How long the origin is left alone when it is out for the {@code times}-th time on end. */
  long outNanos(int times) {
    return times > 4 ? longestOutNanos() : outFor.toNanos() << Math.max(0, times - 1);
  }

  /** The most of that, also if the origin asks to be left alone. */
  long longestOutNanos() {
    return 12 * outFor.toNanos();
  }

  /**
   * How long its share of the requests then takes to grow to the full one. If it fails meanwhile,
   * the next while is longer.
   */
  long returnNanos() {
    return 2 * outFor.toNanos();
  }
}
