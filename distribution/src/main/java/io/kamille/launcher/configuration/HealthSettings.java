package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * When an origin gets no more requests, judged by the requests it had.
 *
 * @param failures consecutive failures that take it out
 * @param outFor how long it then stays out before one request tries it
 */
public record HealthSettings(int failures, Duration outFor) {

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
              "How long such an origin stays out before one request tries it again.")
          .defaultsTo(Duration.ofSeconds(5));

  static final Section SECTION =
      Section.one(
          "upstreams.*.health",
          "When an origin gets no more requests, judged by the requests it had.",
          FAILURES,
          OUT_FOR);

  static HealthSettings of(SectionValues values) {
    return new HealthSettings(values.value(FAILURES), values.value(OUT_FOR));
  }
}
