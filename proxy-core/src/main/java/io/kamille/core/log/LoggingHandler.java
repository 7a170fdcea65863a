package io.kamille.core.log;

import java.lang.System.Logger.Level;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;

/** Sends messages of {@code java.util.logging} to the operational log. Any thread. */
final class LoggingHandler extends Handler {

  private final OperationalLog log;
  private final Formatter formatter = new SimpleFormatter();

  LoggingHandler(OperationalLog log) {
    this.log = log;
  }

  @Override
  public void publish(LogRecord message) {
    Level severity = severity(message.getLevel());
    String name = message.getLoggerName() == null ? "" : message.getLoggerName();
    if (log.isShown(name, severity)) {
      log.write(
          message.getInstant(),
          severity,
          name,
          formatter.formatMessage(message),
          message.getThrown());
    }
  }

  private static Level severity(java.util.logging.Level level) {
    int value = level.intValue();
    if (value >= java.util.logging.Level.SEVERE.intValue()) {
      return Level.ERROR;
    }
    if (value >= java.util.logging.Level.WARNING.intValue()) {
      return Level.WARNING;
    }
    if (value >= java.util.logging.Level.INFO.intValue()) {
      return Level.INFO;
    }
    return value >= java.util.logging.Level.FINE.intValue() ? Level.DEBUG : Level.TRACE;
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
