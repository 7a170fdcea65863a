package io.kamille.core.log;

/** How a record becomes a line. Confined to the writer. */
interface LineFormat {

  /** Appends one line with its line feed. */
  void append(LogRecord record, LineBuffer out);
}
