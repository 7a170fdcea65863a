package io.kamille.core.gate;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What one client has open now, over all loops. Any thread. */
public final class ClientTally {

  /*
   * The count of connections goes from nothing to GONE and never back: whoever comes then makes a
   * new tally. So a tally that was found in the table and is out of it a moment later is never
   * entered.
   */
  private static final int GONE_FOR_EVER = -1;

  /** Counts nothing. */
  public static final ClientTally UNLIMITED = new ClientTally(null, new AddressBits(0, 0));

  /** What became of an attempt to enter. */
  enum Entry {
    ENTERED,
    FULL,
    GONE
  }

  private final @Nullable ClientTable table;
  private final AddressBits client;
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger requests = new AtomicInteger();

  ClientTally(@Nullable ClientTable table, AddressBits client) {
    this.table = table;
    this.client = client;
  }

  Entry enter(int limit) {
    while (true) {
      int open = connections.get();
      if (open == GONE_FOR_EVER) {
        return Entry.GONE;
      }
      if (open >= limit) {
        return Entry.FULL;
      }
      if (connections.compareAndSet(open, open + 1)) {
        return Entry.ENTERED;
      }
    }
  }

  /** A connection that had entered is gone. */
  public void leave() {
    if (table != null
        && connections.decrementAndGet() == 0
        && connections.compareAndSet(0, GONE_FOR_EVER)) {
      table.remove(client, this);
    }
  }

  /**
   * Whether a request must be refused, which is counted: as many as may be are under way. Loops
   * that ask at the same time may let one more in each.
   */
  public boolean refusesRequest() {
    if (table == null || requests.get() < table.limits().requests()) {
      return false;
    }
    table.requestRefused();
    return true;
  }

  /** A request goes on beyond the call that began it. */
  public void requestBegun() {
    if (table != null) {
      requests.incrementAndGet();
    }
  }

  /** A request that had begun is over. */
  public void requestOver() {
    if (table != null) {
      requests.decrementAndGet();
    }
  }
}
