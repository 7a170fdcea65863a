package io.kamille.cache.tiers.peak;

import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When requests leave the disk alone.
 *
 * @param choice what the operator said
 * @param hours when it is known to be busy, every day
 * @param zone where those hours are
 */
public record PeakSettings(PeakChoice choice, List<PeakHours> hours, ZoneId zone) {

  /** By evidence alone. */
  public static final PeakSettings AUTO =
      new PeakSettings(PeakChoice.AUTO, List.of(), ZoneOffset.UTC);

  public PeakSettings {
    hours = List.copyOf(hours);
  }

  /** The same with another choice. */
  PeakSettings with(PeakChoice other) {
    return new PeakSettings(other, hours, zone);
  }

  /** The hours that such a time of the day belongs to, or null. */
  @Nullable PeakHours at(LocalTime time) {
    for (PeakHours each : hours) {
      if (each.has(time)) {
        return each;
      }
    }
    return null;
  }
}
