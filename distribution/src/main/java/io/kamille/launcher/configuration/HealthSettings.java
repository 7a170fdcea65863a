package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Optional;

/**
 * When an origin gets no more requests, judged by the requests it had.
 *
 * @param failures consecutive failures that take it out
 * @param failureRatio the share of failures that takes it out, if any does
 * @param outFor how long it then stays out before one request tries it, the first time
 * @param longestOut the most of that, however often it fails again
 * @param slowReturn how long it takes to get its full share of requests again
 */
public record HealthSettings(
    int failures,
    Optional<Double> failureRatio,
    Duration outFor,
    Duration longestOut,
    Duration slowReturn) {

  static final Setting<Integer> FAILURES =
      Setting.of(
              "upstreams.*.health.failures",
              ValueTypes.wholeNumber(1, 1_000),
              "Consecutive failures after which an origin gets no more requests for a while. A"
                  + " failure is a connection refused or timed out, or an answer that did not come.")
          .defaultsTo(3);

  static final Setting<Duration> OUT_FOR =
      Setting.of(
              "upstreams.*.health.out-for",
              ValueTypes.duration(Duration.ofMillis(100), Duration.ofHours(1)),
              "How long such an origin stays out before one request tries it again: so long the first"
                  + " time, twice as long each time that request fails, and up to a quarter longer at"
                  + " random.")
          .defaultsTo(Duration.ofSeconds(5));

  static final Setting<Optional<Double>> FAILURE_RATIO =
      Setting.of(
              "upstreams.*.health.failure-ratio",
              ValueTypes.orWord("off", ValueTypes.positiveRatio()),
              "The share of an origin's requests within ten seconds, of at least 20, that takes it"
                  + " out when they fail or are answered 502, 503 or 504; 20 of these in a row do,"
                  + " too, within the ten seconds. `off` is for both: then neither does.")
          .defaultsTo(Optional.of(0.5));

  static final Setting<Duration> LONGEST_OUT =
      Setting.of(
              "upstreams.*.health.longest-out",
              ValueTypes.duration(Duration.ofMillis(100), Duration.ofHours(24)),
              "The most that `out-for` grows to.")
          .defaultsTo(Duration.ofMinutes(1));

  static final Setting<Duration> SLOW_RETURN =
      Setting.of(
              "upstreams.*.health.slow-return",
              ValueTypes.duration(Duration.ZERO, Duration.ofHours(1)),
              "How long an origin that comes back takes to get its full share of requests, beginning"
                  + " with a tenth of it.")
          .defaultsTo(Duration.ofSeconds(10));

  static final Section SECTION =
      Section.one(
          "upstreams.*.health",
          "When an origin gets no more requests, judged by the requests it had.",
          FAILURES,
          FAILURE_RATIO,
          OUT_FOR,
          LONGEST_OUT,
          SLOW_RETURN);

  static HealthSettings of(SectionValues values) {
    return new HealthSettings(
        values.value(FAILURES),
        values.value(FAILURE_RATIO),
        values.value(OUT_FOR),
        values.value(LONGEST_OUT),
        values.value(SLOW_RETURN));
  }
}
