package io.kamille.perf.lab;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How many polls a loop has made, and how many events they brought.
 *
 * @param polls since the start
 * @param events since the start
 */
record Polls(long polls, long events) {

  /** Reads them from the metrics of a Kamille with one loop. */
  static Polls parse(String metrics) throws IOException {
    return new Polls(
        value(metrics, "kamille_loop_polls_total"), value(metrics, "kamille_loop_events_total"));
  }

  private static long value(String metrics, String name) throws IOException {
    Matcher matcher =
        Pattern.compile("^" + name + "\\S* ([0-9.eE+]+)$", Pattern.MULTILINE).matcher(metrics);
    if (!matcher.find()) {
      throw new IOException(name + ": not among the metrics");
    }
    return Math.round(Double.parseDouble(matcher.group(1)));
  }
}
