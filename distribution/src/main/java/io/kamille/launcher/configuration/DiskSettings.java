package io.kamille.launcher.configuration;

import io.kamille.cache.peak.PeakChoice;
import io.kamille.cache.peak.PeakHours;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Where stored responses are kept beside memory, so that they outlive a restart.
 *
 * @param path the directory
 * @param capacityBytes what its files may take
 * @param admit which responses are written
 * @param keepsMemory whether what is hot in memory is there again after a restart
 * @param sendFromBytes what is at least that long on the disk is sent from there; empty for nothing
 * @param peak whether requests leave the disk alone while it is too busy
 * @param peakHours when they do so in any case, local time
 */
public record DiskSettings(
    Path path,
    long capacityBytes,
    Admit admit,
    boolean keepsMemory,
    Optional<Long> sendFromBytes,
    PeakChoice peak,
    List<String> peakHours) {

  /** Which responses are written. */
  public enum Admit {
    SECOND_REQUEST,
    ALWAYS
  }

  private static final long KIB = 1L << 10;
  private static final long MIB = 1L << 20;
  private static final long TIB = 1L << 40;

  static final Setting<Path> PATH =
      Setting.of(
              "cache.disk.path",
              ValueTypes.file(),
              "The directory of the store, which is made if need be and must be Kamille's alone. It"
                  + " has to be readable and writable at start.")
          .orElse("nothing is written to a disk")
          .appliesOnRestart();

  static final Setting<Long> CAPACITY =
      Setting.of(
              "cache.disk.capacity",
              ValueTypes.size(io.kamille.cache.DiskSettings.CAPACITY_MINIMUM_BYTES, 1024 * TIB),
              "What the files may take. Must be given with `path`. A response has to fit into a 64th"
                  + " of it, or 256 MiB if that is less.")
          .orElse("nothing is written to a disk")
          .appliesOnRestart();

  static final Setting<Admit> ADMIT =
      Setting.of(
              "cache.disk.admit",
              ValueTypes.oneOf(Admit.values()),
              "What is written: with `second-request`, a response that memory answers a request with"
                  + " and that is fresh for another minute at least; with `always`, whatever is"
                  + " stored in memory, at once.")
          .defaultsTo(Admit.SECOND_REQUEST)
          .appliesOnRestart();

  static final Setting<Boolean> KEEP_MEMORY =
      Setting.of(
              "cache.disk.keep-memory",
              ValueTypes.onOff(),
              "Whether a clean stop writes what memory was asked for and the disk does not have, for"
                  + " ten seconds at most, and the next start takes the hottest of it back into"
                  + " memory.")
          .defaultsTo(true)
          .appliesOnRestart();

  static final Setting<Optional<Long>> SEND_FROM =
      Setting.of(
              "cache.disk.send-from",
              ValueTypes.orWord("off", ValueTypes.size(64 * KIB, 16 * TIB)),
              "What takes at least this much on the disk and is not in memory is sent from its file,"
                  + " by sendfile(2), and not taken into memory; and so is whatever memory has no"
                  + " room for. `off` sends nothing so. Where the connection does not allow it, and"
                  + " where the response has to be validated, it is taken into memory, or is a"
                  + " miss.")
          .defaultsTo(Optional.of(MIB))
          .appliesOnRestart();

  static final Setting<PeakChoice> PEAK =
      Setting.of(
              "cache.disk.peak",
              ValueTypes.oneOf(PeakChoice.values()),
              "Whether requests leave the disk alone at a peak: what is not in memory is then a miss,"
                  + " and nothing is written. `auto` does so while the disk is too busy to be of"
                  + " use, and in `peak-hours`; `off` never; `forced` always. What is removed or"
                  + " purged is removed from the disk in any case.")
          .defaultsTo(PeakChoice.AUTO);

  static final Setting<List<String>> PEAK_HOURS =
      Setting.of(
              "cache.disk.peak-hours",
              ValueTypes.list(
                  "list of hours",
                  text -> PeakHours.parse(text) != null,
                  "two different times of the day such as 11:45-13:15"),
              "When requests leave the disk alone every day, by the local time of the machine, if"
                  + " `peak` is `auto`. The end may be on the next day: `23:30-00:30`.")
          .defaultsTo("none", disk -> List.of());

  static final Section SECTION =
      Section.one(
          "cache.disk",
          "A store of responses on a disk, behind memory; see [disk](../operations/disk.md).",
          PATH,
          CAPACITY,
          ADMIT,
          KEEP_MEMORY,
          SEND_FROM,
          PEAK,
          PEAK_HOURS);

  static Optional<DiskSettings> of(SectionValues values) {
    Path path = values.find(PATH);
    Long capacity = values.find(CAPACITY);
    return path == null || capacity == null
        ? Optional.empty()
        : Optional.of(
            new DiskSettings(
                path,
                capacity,
                values.value(ADMIT),
                values.value(KEEP_MEMORY),
                values.value(SEND_FROM),
                values.value(PEAK),
                values.value(PEAK_HOURS)));
  }

  /** {@link #peakHours}, understood. */
  public List<PeakHours> hours() {
    return peakHours.stream().map(PeakHours::parse).filter(Objects::nonNull).toList();
  }
}
