package io.kamille.cache.settings;

import io.kamille.cache.disk.StoreOpening;
import io.kamille.cache.tiers.DiskCopies.Admission;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakHours;
import io.kamille.cache.tiers.peak.PeakSettings;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where and how stored responses are kept on a disk, so that they outlive a restart.
 *
 * @param path the directory, which is ours alone; null for no disk
 * @param capacityBytes what the files may take, at least {@link #CAPACITY_MINIMUM_BYTES}; 0 for no
 *     disk
 * @param admission which responses are written
 * @param keepsMemory whether what is hot in memory is left to the next process
 * @param sendFromBytes records that long, or longer, are sent from their file to clients that take
 *     regions, and not taken into memory; {@link Long#MAX_VALUE} for none
 * @param peak when requests leave the disk alone, to begin with
 */
public record DiskSettings(
    @Nullable Path path,
    long capacityBytes,
    Admission admission,
    boolean keepsMemory,
    long sendFromBytes,
    PeakSettings peak) {

  /** The least that is of use. */
  public static final long CAPACITY_MINIMUM_BYTES = StoreOpening.CAPACITY_MINIMUM_BYTES;

  private static final long TIB = 1L << 40;

  public static final Setting<Path> PATH =
      Setting.of(
              "path",
              ValueTypes.file(),
              "The directory of the store, which is made if need be and must be Kamille's alone. It"
                  + " has to be readable and writable at start.")
          .orElse("nothing is written to a disk")
          .appliesOnRestart();

  public static final Setting<Long> CAPACITY =
      Setting.of(
              "capacity",
              ValueTypes.size(CAPACITY_MINIMUM_BYTES, 1024 * TIB),
              "The most that the files may take. Must be given with `path`. A response has to fit"
                  + " into a 64th of it, or 256 MiB if that is less.")
          .orElse("nothing is written to a disk", 0L)
          .appliesOnRestart();

  private static final Section<PeakSettings> PEAK =
      Section.of(
          PeakSettings.class,
          Setting.of(
                  "peak",
                  ValueTypes.oneOf(PeakChoice.values()),
                  "Whether requests leave the disk alone at a peak: what is not in memory is then a"
                      + " miss, and nothing is written. `auto` does so while the disk is too busy"
                      + " to be of use, and in `peak-hours`; `off` never; `forced` always. Purges"
                      + " and removals reach the disk in any case.")
              .defaultsTo(PeakChoice.AUTO)
              .into("choice"),
          Setting.of(
                  "peak-hours",
                  ValueTypes.list(
                      "list of hours",
                      PeakHours::parse,
                      PeakHours::toString,
                      "two different times of the day such as 11:45-13:15"),
                  "When requests leave the disk alone every day, by the local time of the machine,"
                      + " if `peak` is `auto`. The end may be on the next day: `23:30-00:30`.")
              .defaultsTo("none", disk -> List.of())
              .into("hours"),
          Row.fixed(ZoneId.systemDefault()));

  public static final Section<DiskSettings> SECTION =
      Section.of(
          DiskSettings.class,
          PATH,
          CAPACITY,
          Setting.of(
                  "admit",
                  ValueTypes.oneOf(Admission.values()),
                  "When a response is written. `second-request`: on the first hit in memory, if it"
                      + " stays fresh for another minute. `always`: as soon as it is stored in"
                      + " memory.")
              .defaultsTo(Admission.SECOND_REQUEST)
              .appliesOnRestart()
              .into("admission"),
          Setting.of(
                  "keep-memory",
                  ValueTypes.onOff(),
                  "Whether memory survives a clean stop. The stop writes responses that were hit"
                      + " and are not on the disk, for ten seconds at most. The next start loads"
                      + " the hottest.")
              .defaultsTo(true)
              .appliesOnRestart(),
          Setting.of(
                  "send-from",
                  ValueTypes.orWord("off", Long.MAX_VALUE, ValueTypes.size(64 << 10, 16 * TIB)),
                  "A response of at least this size that is not in memory is sent from its file, by"
                      + " sendfile(2). So is each that memory has no room for. `off` sends nothing"
                      + " so. If the connection does not allow sendfile, or the response must be"
                      + " validated, it is loaded into memory or is a miss.")
              .defaultsTo(1L << 20)
              .appliesOnRestart(),
          PEAK.inlined());

  /** Whether there is a disk. */
  public boolean isOn() {
    return path != null && capacityBytes > 0;
  }
}
