package io.kamille.core.log;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How the access log is written, one line per exchange: {@code log.access}. Immutable.
 *
 * @param isEnabled whether it is written at all
 * @param output the file that is appended to, or empty for standard output
 * @param format how one line looks
 */
public record AccessLogSettings(boolean isEnabled, Optional<Path> output, Format format) {

  /** How one line looks. */
  public enum Format {
    /** Apache's combined format; duration, cache result and failure behind it. */
    COMBINED,
    /** One JSON object. */
    JSON
  }

  private static final Setting<Optional<Path>> OUTPUT =
      Setting.of(
              "output",
              ValueTypes.orWord("stdout", ValueTypes.file()),
              "The file that the access log is appended to, or `stdout`.")
          .defaultsTo(Optional.empty())
          .appliesOnRestart();

  private static final Setting<Format> FORMAT =
      Setting.of(
              "format",
              ValueTypes.oneOf(Format.values()),
              "How a line is written: `combined` as most log readers know it, `json` as one"
                  + " object.")
          .defaultsTo(Format.COMBINED)
          .appliesOnRestart();

  public static final Section<AccessLogSettings> SECTION =
      Section.of(
          AccessLogSettings.class,
          Setting.of(
                  "enabled",
                  ValueTypes.onOff(),
                  "Whether each exchange is written to the access log. The configuration that ships"
                      + " with Kamille turns it on.")
              .defaultsTo(
                  "`on` if `output` or `format` is given, else `off`",
                  access -> access.isGiven(OUTPUT) || access.isGiven(FORMAT))
              .appliesOnRestart(),
          OUTPUT,
          FORMAT);
}
