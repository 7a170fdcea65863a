package io.kamille.core.log;

import java.text.MessageFormat;
import java.util.Locale;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** A logger that writes to the operational log. Any thread. */
final class LineLogger implements System.Logger {

  private final String name;
  private final OperationalLog log;

  LineLogger(String name, OperationalLog log) {
    this.name = name;
    this.log = log;
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public boolean isLoggable(Level level) {
    return log.isShown(name, level);
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String message,
      @Nullable Throwable thrown) {
    if (isLoggable(level)) {
      log.write(level, name, translated(bundle, message), thrown);
    }
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String format,
      @Nullable Object @Nullable ... parameters) {
    if (isLoggable(level)) {
      log.write(level, name, filled(translated(bundle, format), parameters), null);
    }
  }

  private static String translated(@Nullable ResourceBundle bundle, @Nullable String message) {
    if (message == null) {
      return "null";
    }
    return bundle != null && bundle.containsKey(message) ? bundle.getString(message) : message;
  }

  private static String filled(String format, @Nullable Object @Nullable [] parameters) {
    if (parameters == null || parameters.length == 0) {
      return format;
    }
    try {
      return new MessageFormat(format, Locale.ROOT).format(parameters);
    } catch (IllegalArgumentException notAFormat) {
      return format;
    }
  }
}
