package io.kamille.core.origin.send;

import io.kamille.core.content.Spool;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The temporary file for content that waits for an origin or a slow client.
 *
 * @param directory null for one in the state directory
 * @param mostBytes what all content may take there; 0 for no file
 * @param fileBytes what one message may take
 */
public record SpoolSettings(@Nullable Path directory, long mostBytes, long fileBytes) {

  private static final long TIB = 1L << 40;

  public static final Setting<Path> DIRECTORY =
      Setting.of(
              "directory",
              ValueTypes.file(),
              "Where the file is. It is made when it is needed. It has no name once it is open, so"
                  + " none is left behind.")
          .orElse("`spool` in the state directory")
          .appliesOnRestart();

  private static final Setting<Long> CAPACITY =
      Setting.of(
              "capacity",
              ValueTypes.orWord("off", 0L, ValueTypes.size(Spool.LEAST_FILE_BYTES, TIB)),
              "How long the file may become. One request or response takes at most a quarter of it."
                  + " A request with more content takes a connection before all of it is there. The"
                  + " file does not shrink before Kamille ends. With `off`, content waits in memory"
                  + " alone.")
          .defaultsTo(1L << 30)
          .into("mostBytes")
          .appliesOnRestart();

  public static final Section<SpoolSettings> SECTION =
      Section.of(
          SpoolSettings.class,
          DIRECTORY,
          CAPACITY,
          Row.derived(spool -> spool.value(CAPACITY) / 4));
}
