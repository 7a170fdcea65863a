package io.kamille.perf.load;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a {@link LoadClient} sends, when, and on which connection. Times are nanoseconds
 * after the beginning of the run. Confined to the client's thread.
 */
abstract class Demand {

  /** The run begins. */
  void begin(LoadClient client) throws IOException {}

  /** Whether nothing is to be sent or waited for any more. */
  abstract boolean isOver();

  /** Sends what is due, and returns how much that was. */
  abstract int send(LoadClient client, long nanos);

  /** Comes once a turn: looks what takes too long. */
  abstract void tick(LoadClient client, long nanos) throws IOException;

  /**
   * A request is over; its connection still knows it.
   *
   * @param failure null for the right response
   */
  abstract void ended(LoadClient client, LoadConnection connection, @Nullable LoadFailure failure);

  /** The connection of a request that is over is free for another one. */
  abstract void free(LoadClient client, LoadConnection connection);

  /** Some octets of a response came, but not the last. */
  void received(LoadClient client, LoadConnection connection) {}

  /** Octets came that nobody had asked for; their connection is closed. */
  void receivedUnasked() {}

  /** Whether the time of the first octet of each response is to be taken. */
  boolean isObserving() {
    return false;
  }

  /** How long the client may sleep if nothing comes; 0 keeps it busy. */
  long sleepNanos(long nanos) {
    return 0;
  }

  /** How many octets may be read at once, of so many that fit. */
  int readLimit(int capacity) {
    return capacity;
  }
}
