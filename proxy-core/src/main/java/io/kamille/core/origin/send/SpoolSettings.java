package io.kamille.core.origin.send;

import io.kamille.core.content.Spool;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * The temporary file for content that waits for an origin or a slow client.
 *
 * @param mostBytes what all content may take there; 0 for no file
 * @param fileBytes what one message may take
 */
public record SpoolSettings(long mostBytes, long fileBytes) {

  private static final long TIB = 1L << 40;

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
      Section.of(SpoolSettings.class, CAPACITY, Row.derived(spool -> spool.value(CAPACITY) / 4));
}
