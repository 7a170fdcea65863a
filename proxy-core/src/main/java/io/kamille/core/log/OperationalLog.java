package io.kamille.core.log;

import io.kamille.core.SuppressForbidden;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.text.MessageFormat;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.ResourceBundle;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What Kamille says about itself: one line per message on standard error. Any thread. */
public final class OperationalLog extends Handler {

  /*
   *   2026-11-21T09:00:00.123Z INFO  kamille.server: listening on 127.0.0.1:8080
   *
   * A message may quote what came from outside, so control characters and those that steer
   * direction are escaped: it stays one line. A stack trace follows, indented, a frame a line.
   *
   * System.Logger comes straight here (Finder), not by way of java.util.logging, which takes its
   * handlers away as soon as the process begins to stop: just when a drain has most to tell.
   * Libraries that know only java.util.logging are sent here as to a handler. Of others than
   * ourselves, nothing below INFO is shown, or DEBUG would be all theirs.
   *
   * Once an appliance runs, nobody waits for who reads standard error (QueuedOutput), loops least
   * of all. What is printed there by other ways goes through the same queue, so that the order of
   * lines holds.
   */
  static final MetricDescriptor DROPPED =
      MetricDescriptor.counter(
          "kamille_log_dropped_messages_total",
          Unit.COUNT,
          "Messages of the operational log that were not written: standard error was not read, or"
              + " the write failed.");

  private static final Duration FINISH_LIMIT = Duration.ofSeconds(2);
  private static final OperationalLog STANDARD_ERROR =
      new OperationalLog(new FileOutputStream(FileDescriptor.err), InstantSource.system());

  private static final String OURS = "kamille";
  private static final DateTimeFormatter MOMENT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSX", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final Pattern ESCAPED = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");
  private static final Formatter FORMATTER = new SimpleFormatter();

  private final QueuedOutput out;
  private final InstantSource clock;
  // Volatile: set when a configuration is loaded, read before each message.
  private volatile Level least = Level.INFO;

  OperationalLog(OutputStream out, InstantSource clock) {
    this.out = new QueuedOutput(out, this::dropped, logger("kamille.log"));
    this.clock = clock;
  }

  /** What {@code System.err} shall be: its lines and those of the log come in order. */
  @SuppressForbidden("its charset is asked for")
  public static PrintStream standardError() {
    return new PrintStream(STANDARD_ERROR.out, true, System.err.charset());
  }

  /** From now on nobody waits for who reads standard error. */
  public static void begin() {
    STANDARD_ERROR.out.begin();
  }

  /** Waits until all is written, for a moment at most. */
  public static void finish() {
    STANDARD_ERROR.out.finish(FINISH_LIMIT);
  }

  /** Has what is dropped counted there. */
  public static void register(MetricRegistry registry) {
    registry.counting(DROPPED, STANDARD_ERROR.out::dropped);
  }

  /**
   * Shows messages from the level of the settings on; may be called again. Sends Netty's messages
   * here, too.
   */
  public static void install(Level level) {
    begin();
    STANDARD_ERROR.least(level);
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    Logger root = LogManager.getLogManager().getLogger("");
    for (Handler handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    root.addHandler(STANDARD_ERROR);
  }

  void least(Level level) {
    least = level;
  }

  private boolean isShown(String name, Level severity) {
    boolean isOurs = name.startsWith(OURS);
    int bound =
        isOurs ? least.getSeverity() : Math.max(least.getSeverity(), Level.INFO.getSeverity());
    return severity != Level.OFF && severity.getSeverity() >= bound;
  }

  private void write(
      Instant moment, Level severity, String name, String message, @Nullable Throwable thrown) {
    try {
      out.write(line(moment, severity, name, message, thrown).getBytes(StandardCharsets.UTF_8));
    } catch (IOException nobodyReads) {
      // There is no other place to say so.
    }
  }

  private String dropped(long count) {
    String message = count + " messages were dropped: nobody read standard error";
    return line(clock.instant(), Level.WARNING, "kamille.log", message, null);
  }

  private static String line(
      Instant moment, Level severity, String name, String message, @Nullable Throwable thrown) {
    StringBuilder line = new StringBuilder(128);
    MOMENT.formatTo(moment, line);
    String word = severity == Level.WARNING ? "WARN" : severity.name();
    line.append(String.format(Locale.ROOT, " %-5s ", word)).append(name).append(": ");
    line.append(escaped(message)).append('\n');
    if (thrown != null) {
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      for (String each : trace.toString().lines().toList()) {
        line.append("    ").append(escaped(each.strip())).append('\n');
      }
    }
    return line.toString();
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

  // java.util.logging

  @Override
  public void publish(java.util.logging.LogRecord message) {
    Level severity = severity(message.getLevel().intValue());
    String name = message.getLoggerName() == null ? "" : message.getLoggerName();
    if (isShown(name, severity)) {
      write(
          message.getInstant(),
          severity,
          name,
          FORMATTER.formatMessage(message),
          message.getThrown());
    }
  }

  /** The numbers of both kinds of level are the same. */
  private static Level severity(int number) {
    return List.of(Level.ERROR, Level.WARNING, Level.INFO, Level.DEBUG).stream()
        .filter(level -> number >= level.getSeverity())
        .findFirst()
        .orElse(Level.TRACE);
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}

  // System.Logger

  System.Logger logger(String name) {
    return new Named(name);
  }

  /** Gives every {@link System.Logger} its way to the operational log. Any thread. */
  public static final class Finder extends System.LoggerFinder {

    private final ConcurrentMap<String, System.Logger> loggers = new ConcurrentHashMap<>();

    /** Called by the platform, which finds the class by its service entry. */
    public Finder() {}

    @Override
    public System.Logger getLogger(String name, Module module) {
      return loggers.computeIfAbsent(name, STANDARD_ERROR::logger);
    }
  }

  private final class Named implements System.Logger {

    private final String name;

    Named(String name) {
      this.name = name;
    }

    @Override
    public String getName() {
      return name;
    }

    @Override
    public boolean isLoggable(Level level) {
      return isShown(name, level);
    }

    @Override
    public void log(
        Level level,
        @Nullable ResourceBundle bundle,
        @Nullable String message,
        @Nullable Throwable thrown) {
      if (isLoggable(level)) {
        write(clock.instant(), level, name, translated(bundle, message), thrown);
      }
    }

    @Override
    public void log(
        Level level,
        @Nullable ResourceBundle bundle,
        @Nullable String format,
        @Nullable Object @Nullable ... parameters) {
      if (isLoggable(level)) {
        log(level, null, filled(translated(bundle, format), parameters), (Throwable) null);
      }
    }

    private static String translated(@Nullable ResourceBundle bundle, @Nullable String message) {
      return bundle != null && message != null && bundle.containsKey(message)
          ? bundle.getString(message)
          : String.valueOf(message);
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
}
