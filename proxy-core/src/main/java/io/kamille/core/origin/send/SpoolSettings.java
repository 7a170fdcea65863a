package io.kamille.core.origin.send;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Temporary files for content that waits for an origin or a slow client.
 *
 * @param directory null for one in the state directory
 * @param mostBytes what all files may take; 0 for no files
 * @param fileBytes what one may take
 */
public record SpoolSettings(@Nullable Path directory, long mostBytes, long fileBytes) {

  private static final long TIB = 1L << 40;

  public static final Section<SpoolSettings> SECTION =
      Section.of(
          SpoolSettings.class,
          Setting.of(
                  "directory",
                  ValueTypes.file(),
                  "Where the files are. It is made when the first one is needed. A file has no name"
                      + " once it is open, so none is left behind.")
              .orElse("`spool` in the state directory")
              .appliesOnRestart(),
          Setting.of(
                  "capacity",
                  ValueTypes.orWord("off", 0L, ValueTypes.size(SpoolFile.STEP_BYTES, TIB)),
                  "The most that all files take together. With `off`, content waits in memory"
                      + " alone.")
              .defaultsTo(1L << 30)
              .into("mostBytes")
              .appliesOnRestart(),
          Setting.of(
                  "file",
                  ValueTypes.size(SpoolFile.STEP_BYTES, TIB),
                  "The most that one request or response takes. A request with more content takes a"
                      + " connection before all of it is there.")
              .defaultsTo(256L << 20)
              .into("fileBytes")
              .appliesOnRestart());

  /** What one request or response may take in fact. */
  public long oneFileBytes() {
    return Math.min(fileBytes, mostBytes);
  }
}
