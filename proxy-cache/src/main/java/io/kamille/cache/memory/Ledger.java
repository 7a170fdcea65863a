package io.kamille.cache.memory;

import java.util.concurrent.atomic.AtomicLong;

/** How many granules of an arena are free, and what of it is in use. Any thread. */
final class Ledger {

  /*
   * The maps of free granules hold what is free here, what is charged, and what was reserved and is
   * being collected. So whoever reserves first finds what he collects.
   */
  private final AtomicLong free;
  private final AtomicLong charged = new AtomicLong();
  private final AtomicLong writing = new AtomicLong();
  private final AtomicLong live = new AtomicLong();

  Ledger(long freeGranules) {
    free = new AtomicLong(freeGranules);
  }

  /** How many are free. */
  long free() {
    return free.get();
  }

  /** How many are charged. */
  long charged() {
    return charged.get();
  }

  /** Sets so many aside, if there are. */
  boolean reserve(long granules) {
    long count = free.get();
    while (count >= granules) {
      if (free.compareAndSet(count, count - granules)) {
        return true;
      }
      count = free.get();
    }
    return false;
  }

  /** So many are free again. */
  void give(long granules) {
    free.addAndGet(granules);
  }

  /** Charges so many more or, negative, less; false if there are not so many. */
  boolean charge(long granules) {
    if (granules > 0 && !reserve(granules)) {
      return false;
    }
    charged.addAndGet(granules);
    if (granules < 0) {
      free.addAndGet(-granules);
    }
    return true;
  }

  /** A writer holds so many granules more, or, negative, less. */
  void countWriting(long changeGranules) {
    writing.addAndGet(changeGranules);
  }

  /** How many granules writers hold that are still open. */
  long writing() {
    return writing.get();
  }

  /** Counts a {@link StoredBytes} that begins ({@code +1}) or ends ({@code -1}). */
  void countLive(int change) {
    live.addAndGet(change);
  }

  /** How many {@link StoredBytes} there are. */
  long live() {
    return live.get();
  }
}
