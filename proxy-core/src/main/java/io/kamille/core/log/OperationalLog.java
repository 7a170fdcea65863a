package io.kamille.core.log;

import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;

/** What Kamille says about itself: one line per message on standard error. Any thread. */
public final class OperationalLog {

  /*
   * System.Logger comes straight here (LineLoggerFinder), not by way of java.util.logging, which
   * takes its handlers away as soon as the process begins to stop: just when a drain has most to
   * tell. Libraries that know only java.util.logging are sent here by a handler. Of others than
   * ourselves, nothing below INFO is shown, or DEBUG would be all theirs.
   */
  private static final OperationalLog STANDARD_ERROR =
      new OperationalLog(new FileOutputStream(FileDescriptor.err), InstantSource.system());
  private static final String OURS = "kamille";

  private final OutputStream out;
  private final InstantSource clock;
  // Volatile: set when a configuration is loaded, read before each message.
  private volatile Level level = Level.INFO;

  OperationalLog(OutputStream out, InstantSource clock) {
    this.out = out;
    this.clock = clock;
  }

  static OperationalLog standardError() {
    return STANDARD_ERROR;
  }

  /**
   * Shows messages from the level of the settings on; may be called again. Sends Netty's messages
   * here, too.
   */
  public static void install(LogSettings.Level level) {
    STANDARD_ERROR.level(Level.valueOf(level.name()));
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    Logger root = LogManager.getLogManager().getLogger("");
    for (Handler handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    root.addHandler(STANDARD_ERROR.handler());
  }

  Handler handler() {
    return new LoggingHandler(this);
  }

  void level(Level least) {
    level = least;
  }

  boolean isShown(String name, Level severity) {
    Level least =
        name.startsWith(OURS) || level.getSeverity() > Level.INFO.getSeverity()
            ? level
            : Level.INFO;
    return severity != Level.OFF && severity.getSeverity() >= least.getSeverity();
  }

  void write(
      Instant moment, Level severity, String name, String message, @Nullable Throwable thrown) {
    byte[] line =
        MessageLine.of(moment, severity, name, message, thrown).getBytes(StandardCharsets.UTF_8);
    synchronized (out) {
      try {
        out.write(line);
      } catch (IOException nobodyReads) {
        // There is no other place to say so.
      }
    }
  }

  void write(Level severity, String name, String message, @Nullable Throwable thrown) {
    write(clock.instant(), severity, name, message, thrown);
  }

  /** Sends messages of {@code java.util.logging} to the operational log. Any thread. */
  private static final class LoggingHandler extends Handler {

    private final OperationalLog log;
    private final Formatter formatter = new SimpleFormatter();

    LoggingHandler(OperationalLog log) {
      this.log = log;
    }

    @Override
    public void publish(java.util.logging.LogRecord message) {
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
}
