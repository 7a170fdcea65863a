package io.kamille.core.log;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.lang.System.Logger.Level;

/** What is written about requests and about Kamille itself. */
public record LogSettings(AccessLogSettings access, Level level) {

  public static final Subsection<AccessLogSettings> ACCESS =
      AccessLogSettings.SECTION.one("access", "The access log: one line per exchange.");

  public static final Section<LogSettings> SECTION =
      Section.of(
          LogSettings.class,
          ACCESS,
          Setting.of(
                  "level",
                  ValueTypes.oneOf(
                      new Level[] {Level.ERROR, Level.WARNING, Level.INFO, Level.DEBUG}),
                  "The least severe message about Kamille itself that is written to standard"
                      + " error.")
              .defaultsTo(Level.INFO));
}
