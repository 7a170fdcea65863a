package io.kamille.core.log;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Where lines go. Confined to the writer once it has started. */
interface LogDestination {

  /** Writes all of it, or throws; the position then says how much was written. */
  void write(ByteBuffer lines) throws IOException;

  /** Begins a new file of the same name; without one, goes on. On failure the old one stays. */
  void reopen() throws IOException;

  void close() throws IOException;
}
