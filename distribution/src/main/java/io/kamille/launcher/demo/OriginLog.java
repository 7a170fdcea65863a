package io.kamille.launcher.demo;

import java.util.function.Consumer;

/**
 * Shows what the origin is asked, a few lines a second at most: under load the terminal is not what
 * we want to measure. Any thread.
 */
public final class OriginLog {

  private static final int LINES_PER_SECOND = 10;

  private final Consumer<String> lines;
  private long second;
  private int shown;

  /** A log that hands its lines to {@code lines}. */
  public OriginLog(Consumer<String> lines) {
    this.lines = lines;
  }

  /** One request, such as {@code GET /about 200}. */
  public synchronized void request(String text) {
    long now = System.nanoTime() / 1_000_000_000;
    if (now != second) {
      second = now;
      shown = 0;
    }
    if (shown++ < LINES_PER_SECOND) {
      lines.accept("origin: " + text);
    }
  }
}
