package io.kamille.core.log;

import io.kamille.core.SuppressForbidden;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.ByteArrayInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.text.MessageFormat;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What Kamille says about itself: one line per message on standard error. Any thread. */
public final class OperationalLog extends Handler {

  /*
   *   2026-11-21T09:00:00.123Z INFO  kamille.server: listening on 127.0.0.1:8080
   *
   * A message may quote what came from outside, so control characters and those that steer
   * direction are escaped: it stays one line. A stack trace follows, indented, a frame a line.
   *
   * System.Logger and libraries come here by way of java.util.logging, whose manager would take its
   * handlers away as soon as the process begins to stop: just when a drain has most to tell. So the
   * process has a Manager of ours. Of others than ourselves, nothing below INFO is shown, or DEBUG
   * would be all theirs.
   *
   * Once an appliance runs, nobody waits for who reads standard error (QueuedOutput), loops least
   * of all. What is printed there by other ways goes through the same queue, so that the order of
   * lines holds.
   */
  static final MetricDescriptor DROPPED =
      MetricDescriptor.counter(
          "kamille_log_dropped_messages_total",
          "Messages of the operational log that were not written: standard error was not read, or"
              + " the write failed.");

  private static final Duration FINISH_LIMIT = Duration.ofSeconds(2);
  private static final QueuedOutput STANDARD_ERROR =
      new QueuedOutput(
          new FileOutputStream(FileDescriptor.err),
          OperationalLog::dropped,
          System.getLogger("kamille.log"));

  // Held here, as java.util.logging forgets a logger that nobody holds.
  private static final Logger ROOT = Logger.getLogger("");
  private static final Logger OURS = Logger.getLogger("kamille");
  private static final DateTimeFormatter MOMENT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSX", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final Pattern ESCAPED = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

  private final OutputStream out;

  /** Writes to standard error; called by the platform, which finds the class by its name. */
  public OperationalLog() {
    this(STANDARD_ERROR);
  }

  OperationalLog(OutputStream out) {
    this.out = out;
  }

  /**
   * Keeps the handler while the process stops. To be named by {@code java.util.logging.manager}
   * before {@link OperationalLog} is used, or any logger.
   */
  public static final class Manager extends LogManager {

    /** Called by the platform, which finds the class by its name. */
    public Manager() {}

    @Override
    public void readConfiguration() throws IOException {
      String text = "handlers=" + OperationalLog.class.getName();
      readConfiguration(new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII)));
    }

    @Override
    public void reset() {}
  }

  /** What {@code System.err} shall be: its lines and those of the log come in order. */
  @SuppressForbidden("its charset is asked for")
  public static PrintStream standardError() {
    return new PrintStream(STANDARD_ERROR, true, System.err.charset());
  }

  /** From now on nobody waits for who reads standard error. */
  public static void begin() {
    STANDARD_ERROR.begin();
  }

  /** Waits until all is written, for a moment at most. */
  public static void finish() {
    STANDARD_ERROR.finish(FINISH_LIMIT);
  }

  /** Has what is dropped counted there. */
  public static void register(MetricRegistry registry) {
    registry.counting(DROPPED, STANDARD_ERROR::dropped);
  }

  /**
   * Shows messages from the level of the settings on; may be called again. Sends Netty's messages
   * here, too.
   */
  public static void install(System.Logger.Level level) {
    begin();
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    show(level);
  }

  /** The numbers of both kinds of level are the same. */
  static void show(System.Logger.Level level) {
    int least = level.getSeverity();
    OURS.setLevel(Level.parse(Integer.toString(least)));
    ROOT.setLevel(Level.parse(Integer.toString(Math.max(least, Level.INFO.intValue()))));
  }

  private static String dropped(long count) {
    LogRecord message =
        new LogRecord(Level.WARNING, count + " messages were dropped: nobody read standard error");
    message.setLoggerName("kamille.log");
    return text(message);
  }

  @Override
  public void publish(LogRecord message) {
    try {
      out.write(text(message).getBytes(StandardCharsets.UTF_8));
    } catch (IOException nobodyReads) {
      // There is no other place to say so.
    }
  }

  private static String text(LogRecord message) {
    StringBuilder text = new StringBuilder(128);
    MOMENT.formatTo(message.getInstant(), text);
    text.append(String.format(Locale.ROOT, " %-5s ", severity(message.getLevel().intValue())));
    text.append(message.getLoggerName()).append(": ");
    text.append(escaped(filled(message))).append('\n');
    if (message.getThrown() != null) {
      StringWriter trace = new StringWriter();
      message.getThrown().printStackTrace(new PrintWriter(trace));
      for (String line : trace.toString().lines().toList()) {
        text.append("    ").append(escaped(line.strip())).append('\n');
      }
    }
    return text.toString();
  }

  private static String severity(int number) {
    return number >= Level.SEVERE.intValue()
        ? "ERROR"
        : number >= Level.WARNING.intValue()
            ? "WARN"
            : number >= Level.INFO.intValue() ? "INFO" : "DEBUG";
  }

  private static String filled(LogRecord message) {
    String format = String.valueOf(message.getMessage());
    Object[] parameters = message.getParameters();
    if (parameters == null || parameters.length == 0) {
      return format;
    }
    try {
      return new MessageFormat(format, Locale.ROOT).format(parameters);
    } catch (IllegalArgumentException notAFormat) {
      return format;
    }
  }

  private static String escaped(String text) {
    return ESCAPED
        .matcher(text)
        .replaceAll(
            found -> {
              int character = found.group().codePointAt(0);
              return Matcher.quoteReplacement(
                  character == '\n' ? "\\n" : String.format(Locale.ROOT, "\\u%04x", character));
            });
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
