package io.kamille.core.loop;

import io.kamille.core.loop.Pacing.Mode;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * How the loops of a group pace themselves.
 *
 * @param pacing who chooses the interval between two polls
 * @param spin the longest busy wait before a loop blocks; zero for none
 */
public record PaceSettings(Pacing pacing, Duration spin) {

  /** The longest wait, at the 99th percentile, that an adaptive interval may add to a response. */
  public static final Duration LATENCY_BUDGET = Duration.ofNanos(500_000);

  public static final Setting<Pacing> PACING =
      Setting.of(
              "pacing",
              ValueTypes.orWord(
                  "adaptive",
                  Pacing.ADAPTIVE,
                  ValueTypes.orWord(
                      "off",
                      Pacing.OFF,
                      ValueTypes.duration(Duration.ofNanos(50_000), Duration.ofMillis(100))
                          .map(Pacing::fixed, Pacing::interval))),
              "The least interval between two polls of a loop. `off` sets none. With `adaptive`,"
                  + " each loop chooses it by its load, and adds at most 500 us to a response, at"
                  + " the 99th percentile.")
          .defaultsTo(Pacing.ADAPTIVE);

  public static final Setting<Duration> SPIN =
      Setting.of(
              "spin",
              ValueTypes.orWord(
                  "off",
                  Duration.ZERO,
                  ValueTypes.duration(Duration.ofNanos(1_000), Duration.ofMillis(100))),
              "The longest time a loop polls without sleeping before it sleeps. Within it the"
                  + " loop chooses by what its waits were like; it never spins when there are"
                  + " fewer idle processors than loops.")
          .defaultsTo(Duration.ZERO);

  /** The settings under {@code engine}. */
  public static final Section<PaceSettings> SECTION = Section.of(PaceSettings.class, PACING, SPIN);

  /** The loop chooses, within half a millisecond. */
  public static final PaceSettings ADAPTIVE = SECTION.defaults();

  /** No pacing, no busy wait. */
  public static final PaceSettings OFF = ADAPTIVE.with(Pacing.OFF);

  public PaceSettings {
    if (spin.isNegative()) {
      throw new IllegalArgumentException("spin: " + spin + " (expected: >= 0)");
    }
  }

  /** A fixed interval, no busy wait. */
  public static PaceSettings fixed(long intervalNanos) {
    return ADAPTIVE.with(Pacing.fixed(Duration.ofNanos(intervalNanos)));
  }

  /** The same, but the interval is chosen so. */
  public PaceSettings with(Pacing other) {
    return new PaceSettings(other, spin);
  }

  /** The same with another limit of the busy wait. */
  public PaceSettings withSpin(Duration limit) {
    return new PaceSettings(pacing, limit);
  }

  Mode mode() {
    return pacing.mode();
  }

  long intervalNanos() {
    return pacing.interval().toNanos();
  }
}
