package io.kamille.cache.settings;

import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.tiers.DiskCopies.Admission;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
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
    PeakChoice peak) {

  /** The least that is of use. */
  public static final long CAPACITY_MINIMUM_BYTES = DiskTier.CAPACITY_MINIMUM_BYTES;

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

  public static final Section<DiskSettings> SECTION =
      Section.of(
              DiskSettings.class,
              PATH,
              CAPACITY,
              Setting.of(
                      "admit",
                      ValueTypes.oneOf(Admission.values()),
                      "When a response is written. `second-request`: on the first hit in memory, if"
                          + " it stays fresh for another minute. `always`: as soon as it is stored"
                          + " in memory.")
                  .defaultsTo(Admission.SECOND_REQUEST)
                  .appliesOnRestart()
                  .into("admission"),
              Setting.of(
                      "keep-memory",
                      ValueTypes.onOff(),
                      "Whether memory survives a clean stop. The stop writes responses that were"
                          + " hit and are not on the disk, for ten seconds at most. The next start"
                          + " loads the hottest.")
                  .defaultsTo(true)
                  .appliesOnRestart(),
              Row.fixed(1L << 20),
              Setting.of(
                      "peak",
                      ValueTypes.oneOf(PeakChoice.values()),
                      "Whether requests leave the disk alone at a peak: what is not in memory is"
                          + " then a miss, and nothing is written. `auto` does so while the disk is"
                          + " too busy to be of use; `off` never; `forced` always. Purges and"
                          + " removals reach the disk in any case.")
                  .defaultsTo(PeakChoice.AUTO))
          .checkedBy(
              (disk, problems) ->
                  problems.together(
                      disk, PATH, "cache.disk.path", CAPACITY, "cache.disk.capacity"));

  /** Whether there is a disk. */
  public boolean isOn() {
    return path != null && capacityBytes > 0;
  }
}
