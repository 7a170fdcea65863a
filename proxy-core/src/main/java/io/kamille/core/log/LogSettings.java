package io.kamille.core.log;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/** What is written about requests and about Kamille itself. */
public record LogSettings(AccessLogSettings access, Level level) {

  /** The least severe message that is logged. */
  public enum Level {
    ERROR,
    WARNING,
    INFO,
    DEBUG
  }

  public static final Section<LogSettings> SECTION =
      Section.of(
          LogSettings.class,
          AccessLogSettings.SECTION.one("access", "The access log: one line per exchange."),
          Setting.of(
                  "level",
                  ValueTypes.oneOf(Level.values()),
                  "The least severe message about Kamille itself that is written to standard"
                      + " error.")
              .defaultsTo(Level.INFO));
}
