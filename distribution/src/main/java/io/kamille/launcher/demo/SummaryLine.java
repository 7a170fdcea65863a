package io.kamille.launcher.demo;

import io.kamille.launcher.appliance.Totals;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * One line that tells how the proxy does: on a terminal it stays at the bottom and changes in
 * place, elsewhere a new one comes when there was something to tell. Any thread.
 */
public final class SummaryLine {

  /** With fewer in a second, what the process does beside them is most of its processor time. */
  private static final int LEAST_REQUESTS_FOR_CPU = 20;

  /** More of them a second would make the terminal what is measured. */
  private static final int ASKED_PER_SECOND = 10;

  private static final String CLEAR = "\r\u001b[K";

  private final PrintWriter out;
  private final boolean inPlace;
  private Totals last = new Totals(0, 0, 0, 0, 0);
  private String shown = "";
  private long second;
  private int askedInSecond;

  /** A line on {@code out}, changed in place if that is a terminal. */
  public SummaryLine(PrintWriter out, boolean inPlace) {
    this.out = out;
    this.inPlace = inPlace;
  }

  /** Shows what happened since the last time, a second ago. */
  public synchronized void show(Totals now) {
    long requests = now.requests() - last.requests();
    long hits = now.hits() - last.hits();
    long cpuNanos = now.cpuNanos() - last.cpuNanos();
    last = now;
    if (requests == 0 && !inPlace) {
      return;
    }
    shown =
        String.format(
            Locale.ROOT,
            "%,d requests/s   hit ratio %s   CPU %s µs/request   %,d connections",
            requests,
            requests == 0 ? "–" : String.format(Locale.ROOT, "%.1f %%", 100.0 * hits / requests),
            requests < LEAST_REQUESTS_FOR_CPU
                ? "–"
                : String.format(Locale.ROOT, "%.1f", cpuNanos / 1e3 / requests),
            now.connections());
    if (inPlace) {
      out.print(CLEAR + shown);
    } else {
      out.println(shown);
    }
    out.flush();
  }

  /**
   * Tells what the origin was asked, such as {@code GET /about 200}, if there is time to read it.
   */
  public synchronized void asked(String request) {
    long now = System.nanoTime() / 1_000_000_000;
    if (now != second) {
      second = now;
      askedInSecond = 0;
    }
    if (askedInSecond++ < ASKED_PER_SECOND) {
      above("origin: " + request);
    }
  }

  /** Prints a line that stays, above the summary. */
  public synchronized void above(String line) {
    if (inPlace) {
      out.print(CLEAR + line + System.lineSeparator() + shown);
    } else {
      out.println(line);
    }
    out.flush();
  }

  /** Leaves the line as it is. */
  public synchronized void end() {
    if (inPlace) {
      out.println();
    }
    out.flush();
  }
}
