package io.kamille.cluster.engine;

import java.lang.System.Logger.Level;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Pattern;
import org.jgroups.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What JGroups logs, as lines of ours: warnings alone, the ordinary ones at level debug, without
 * stack traces, and not often.
 */
final class EngineLines extends Handler {

  private static final System.Logger LOG = System.getLogger("kamille.cluster");
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
  static final int LINE_LIMIT = 300;

  /** What passes by itself, and what a line of ours says in words for operators. */
  private static final Pattern ORDINARY =
      Pattern.compile(
          "graceful close|JOIN|ACKs|merge|member|coord|retransmission|no physical"
              + " address|deserializing exception");

  // Held here, as java.util.logging forgets a logger that nobody holds.
  private static final Logger ENGINE = Logger.getLogger("org.jgroups");

  private final ConcurrentMap<String, Long> last = new ConcurrentHashMap<>();

  /** Takes over. */
  static void follow() {
    LogFactory.useJdkLogger(true);
    if (ENGINE.getUseParentHandlers()) {
      ENGINE.setUseParentHandlers(false);
      ENGINE.setLevel(java.util.logging.Level.WARNING);
      ENGINE.addHandler(new EngineLines());
    }
  }

  @Override
  public void publish(LogRecord entry) {
    String text = String.valueOf(entry.getMessage());
    Level level = ORDINARY.matcher(text).find() ? Level.DEBUG : Level.WARNING;
    if (!LOG.isLoggable(level)) {
      return;
    }
    long now = System.nanoTime();
    String part = String.valueOf(entry.getSourceClassName());
    Long before = last.get(part);
    if (before == null || now - before >= PAUSE_NANOS) {
      last.put(part, now);
      LOG.log(
          level,
          "JGroups says ({0}): {1}",
          part.substring(part.lastIndexOf('.') + 1),
          line(text, entry.getThrown()));
    }
  }

  /** The first line of a text, and the message of its reason. */
  static String line(String text, @Nullable Throwable why) {
    String line =
        text.lines().findFirst().orElse("") + (why == null ? "" : ": " + why.getMessage());
    return line.length() > LINE_LIMIT ? line.substring(0, LINE_LIMIT - 1) + "…" : line;
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
