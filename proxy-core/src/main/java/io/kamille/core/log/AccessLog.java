package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeObserver;

/** The access log: one line per exchange, written off the loops. Any thread. */
public interface AccessLog extends AutoCloseable {

  /** Writes no lines. */
  AccessLog DISABLED =
      new AccessLog() {
        @Override
        public ExchangeObserver forLoop() {
          return ExchangeObserver.NONE;
        }

        @Override
        public void reopen() {}

        @Override
        public void close() {}
      };

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
