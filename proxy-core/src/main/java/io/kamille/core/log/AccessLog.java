package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;

/** The access log: one line per exchange, written off the loops. Any thread. */
public interface AccessLog extends AutoCloseable {

  /**
   * Opens the file or standard output and starts the writer.
   *
   * @throws IOException if the file cannot be appended to
   */
  static AccessLog open(AccessLogSettings settings, MetricRegistry registry, WallClock clock)
      throws IOException {
    LogDestination destination = LogDestination.open(settings.output());
    return WrittenAccessLog.start(settings, destination, registry, clock);
  }

  /** A log that notes nothing. */
  static AccessLog disabled() {
    return DisabledAccessLog.INSTANCE;
  }

  /**
   * The entrance for one loop more, confined to it. It never blocks and never allocates: an
   * exchange that finds no room is dropped and counted.
   */
  ExchangeObserver forLoop();

  /** Asks the writer to open the file anew, after it was renamed. Returns at once. */
  void reopen();

  /**
   * Writes what waits, for a few seconds at most, and closes the file. The loops must have stopped:
   * what they note afterwards is lost.
   */
  @Override
  void close();
}
