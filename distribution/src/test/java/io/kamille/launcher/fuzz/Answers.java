package io.kamille.launcher.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The final responses of one connection to the proxy, read as strictly as they must be written.
 *
 * @param list in their order; only the last may be incomplete
 * @param fault what is not in normal form, or empty
 */
record Answers(List<Answer> list, String fault) {

  /**
   * One final response.
   *
   * @param echo what the origin calls the request: its client and its number; or null
   * @param isOurs whether the proxy says that there was trouble
   * @param isHit whether it came from the store
   * @param isComplete whether all of it came
   */
  record Answer(
      int status,
      @Nullable String echo,
      boolean isOurs,
      boolean isHit,
      boolean closes,
      boolean isComplete,
      String content) {}

  private static final Pattern STATUS_LINE = Pattern.compile("HTTP/1\\.1 ([1-5][0-9]{2}) .*");
  private static final Pattern FIELD_LINE =
      Pattern.compile("([-!#$%&'*+.^_`|~0-9A-Za-z]+): ?([\\t\\x20-\\x7e\\x80-\\xff]*)");

  /**
   * Reads what came until the proxy closed.
   *
   * @param method of the request that the n-th answer is for
   */
  static Answers of(String octets, IntFunction<String> method) {
    Reader reader = new Reader(octets);
    List<Answer> answers = new ArrayList<>();
    String fault = "";
    try {
      while (reader.at < octets.length()) {
        Answer answer = reader.answer(method.apply(answers.size()));
        if (answer.status() >= 200) {
          answers.add(answer);
        }
        if (!answer.isComplete()) {
          break;
        }
      }
    } catch (IllegalStateException notNormal) {
      fault = String.valueOf(notNormal.getMessage());
    }
    return new Answers(answers, fault);
  }

  private static final class Reader {

    private final String octets;
    private int at;

    Reader(String octets) {
      this.octets = octets;
    }

    Answer answer(String method) {
      var start = STATUS_LINE.matcher(line());
      if (!start.matches()) {
        throw new IllegalStateException("no status line at " + at);
      }
      int status = Integer.parseInt(start.group(1));
      String echo = null;
      boolean isOurs = false;
      boolean isHit = false;
      boolean closes = false;
      String length = null;
      String coding = null;
      for (String line = line(); !line.isEmpty(); line = line()) {
        var field = FIELD_LINE.matcher(line);
        if (!field.matches()) {
          throw new IllegalStateException("a field line: " + line);
        }
        String value = field.group(2);
        switch (field.group(1).toLowerCase(Locale.ROOT)) {
          case "x-echo" -> echo = once(echo, value);
          case "proxy-status" -> isOurs |= value.startsWith("kamille; error=");
          case "cache-status" -> isHit |= value.contains("kamille; hit");
          case "connection" -> closes |= value.equals("close");
          case "content-length" -> length = once(length, value);
          case "transfer-encoding" -> coding = once(coding, value);
          default -> {}
        }
      }
      if (length != null && coding != null) {
        throw new IllegalStateException("two framings");
      }
      String content = "";
      boolean isComplete = true;
      // A head that is refused need not have been read as far as to its method.
      boolean mayHave = !method.equals("HEAD") || (isOurs && closes && at < octets.length());
      boolean hasContent = mayHave && status >= 200 && status != 204 && status != 304;
      if (hasContent && coding != null) {
        int from = at;
        String joined = chunks();
        isComplete = joined != null;
        content = joined == null ? octets.substring(from) : joined;
      } else if (hasContent && length != null) {
        long wanted = Long.parseLong(length);
        int end = (int) Math.min(octets.length(), at + wanted);
        isComplete = octets.length() - at >= wanted;
        content = octets.substring(at, end);
        at = end;
      } else if (hasContent) {
        content = octets.substring(at);
        at = octets.length();
      }
      return new Answer(status, echo, isOurs, isHit, closes, isComplete, content);
    }

    private static String once(@Nullable String before, String value) {
      if (before != null) {
        throw new IllegalStateException("a field twice: " + before + ", " + value);
      }
      return value;
    }

    /** The joined chunks, or null if they come to an early end. */
    private @Nullable String chunks() {
      StringBuilder content = new StringBuilder();
      while (true) {
        int end = octets.indexOf("\r\n", at);
        if (end < 0) {
          return null;
        }
        int size = Integer.parseInt(octets.substring(at, end), 16);
        at = end + 2;
        if (size == 0) {
          return trailersEnd() ? content.toString() : null;
        }
        if (octets.length() - at < size + 2) {
          return null;
        }
        content.append(octets, at, at + size);
        at += size;
        if (!octets.startsWith("\r\n", at)) {
          throw new IllegalStateException("a chunk longer than its size");
        }
        at += 2;
      }
    }

    private boolean trailersEnd() {
      while (octets.indexOf("\r\n", at) >= 0) {
        if (line().isEmpty()) {
          return true;
        }
      }
      return false;
    }

    private String line() {
      int end = octets.indexOf('\n', at);
      if (end <= at - 1 || end == 0 || octets.charAt(end - 1) != '\r') {
        throw new IllegalStateException("no line that ends in CRLF at " + at);
      }
      String line = octets.substring(at, end - 1);
      if (line.indexOf('\r') >= 0) {
        throw new IllegalStateException("a CR within a line");
      }
      at = end + 1;
      return line;
    }
  }
}
