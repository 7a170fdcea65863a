package io.kamille.core;

import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * A log that keeps its lines, each with the message of what was thrown. Any thread, if the list is.
 */
public record LinesLog(List<String> lines) implements System.Logger {

  @Override
  public String getName() {
    return "lines";
  }

  @Override
  public boolean isLoggable(Level level) {
    return true;
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String message,
      @Nullable Throwable thrown) {
    lines.add(message + (thrown == null ? "" : ": " + thrown.getMessage()));
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String format,
      @Nullable Object... parameters) {
    lines.add(String.valueOf(format));
  }
}
