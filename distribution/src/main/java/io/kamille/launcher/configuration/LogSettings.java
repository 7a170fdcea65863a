package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.util.Optional;

/** What is written about requests and about Kamille itself. */
public record LogSettings(Access access, Level level) {

  /**
   * The access log: one line per exchange.
   *
   * @param output the file, or empty for standard output
   * @param bufferBytes of one loop, for lines not yet written; lines beyond it are dropped and
   *     counted
   */
  public record Access(boolean isEnabled, Optional<Path> output, Format format, int bufferBytes) {}

  /** How a line of the access log is written. */
  public enum Format {
    /** The combined log format, with the cache status behind it. */
    COMBINED,
    /** One JSON object per line. */
    JSON
  }

  /** The least severe message that is logged. */
  public enum Level {
    ERROR,
    WARNING,
    INFO,
    DEBUG
  }

  static final Setting<Optional<Path>> ACCESS_OUTPUT =
      Setting.of(
              "log.access.output",
              ValueTypes.orWord("stdout", ValueTypes.file()),
              "The file that the access log is appended to, or `stdout`.")
          .defaultsTo(Optional.empty())
          .appliesOnRestart();

  static final Setting<Format> ACCESS_FORMAT =
      Setting.of(
              "log.access.format",
              ValueTypes.oneOf(Format.values()),
              "How a line is written: `combined` as most log readers know it, `json` as one object.")
          .defaultsTo(Format.COMBINED)
          .appliesOnRestart();

  static final Setting<Boolean> ACCESS_ENABLED =
      Setting.of(
              "log.access.enabled",
              ValueTypes.onOff(),
              "Whether each exchange is written to the access log. The configuration that ships with"
                  + " Kamille turns it on.")
          .defaultsTo(
              "`on` if `output` or `format` is given, else `off`",
              access -> access.isGiven(ACCESS_OUTPUT) || access.isGiven(ACCESS_FORMAT))
          .appliesOnRestart();

  static final Setting<Long> ACCESS_BUFFER =
      Setting.of(
              "log.access.buffer",
              ValueTypes.size(64 << 10, 1 << 30),
              "Memory of each loop for lines that wait to be written. When it is full, lines are"
                  + " dropped and counted; requests never wait for the log.")
          .defaultsTo(1L << 20)
          .appliesOnRestart();

  static final Section ACCESS =
      Section.one(
          "log.access",
          "The access log: one line per exchange.",
          ACCESS_ENABLED,
          ACCESS_OUTPUT,
          ACCESS_FORMAT,
          ACCESS_BUFFER);

  static final Setting<Level> LEVEL =
      Setting.of(
              "log.level",
              ValueTypes.oneOf(Level.values()),
              "The least severe message about Kamille itself that is written to standard error.")
          .defaultsTo(Level.INFO);

  static final Section SECTION =
      Section.one("log", "What is written about requests and about Kamille itself.", ACCESS, LEVEL);

  static LogSettings of(SectionValues values) {
    SectionValues access = values.one(ACCESS);
    return new LogSettings(
        new Access(
            access.value(ACCESS_ENABLED),
            access.value(ACCESS_OUTPUT),
            access.value(ACCESS_FORMAT),
            Math.toIntExact(access.value(ACCESS_BUFFER))),
        values.value(LEVEL));
  }
}
