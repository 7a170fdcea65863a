package io.kamille.core.log;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How a message about Kamille itself looks. Stateless; any thread. */
final class MessageLine {

  /*
   *   2026-11-21T09:00:00.123Z INFO  kamille.server: listening on 127.0.0.1:8080
   *
   * A message may quote what came from outside, so control characters and those that steer
   * direction are escaped: it stays one line. A stack trace follows, indented, a frame a line.
   */
  private static final DateTimeFormatter MOMENT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSX", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private MessageLine() {}

  static String of(
      Instant moment, Level severity, String name, String message, @Nullable Throwable thrown) {
    StringBuilder line = new StringBuilder(128);
    MOMENT.formatTo(moment, line);
    line.append(' ').append(word(severity)).append(' ').append(name).append(": ");
    escape(message, line);
    line.append('\n');
    if (thrown != null) {
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      trace
          .toString()
          .lines()
          .forEach(
              each -> {
                line.append("    ");
                escape(each.strip(), line);
                line.append('\n');
              });
    }
    return line.toString();
  }

  private static String word(Level severity) {
    return switch (severity) {
      case ERROR -> "ERROR";
      case WARNING -> "WARN ";
      case INFO -> "INFO ";
      case DEBUG -> "DEBUG";
      default -> "TRACE";
    };
  }

  private static void escape(String text, StringBuilder line) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\n') {
        line.append("\\n");
      } else if (isPlain(c)) {
        line.append(c);
      } else {
        line.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      }
    }
  }

  private static boolean isPlain(char c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
