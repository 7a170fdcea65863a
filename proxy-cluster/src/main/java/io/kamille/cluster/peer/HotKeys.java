package io.kamille.cluster.peer;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/** Which keys were asked for lately. Any thread. */
final class HotKeys {

  /*
   * One word a place: the upper half of the key, and the second. Who comes to a place takes it, so
   * that of very many keys some are forgotten too early.
   */
  private static final int PLACES = 1 << 16;
  private static final long SECONDS = 0xffff_ffffL;
  private static final long LATELY = 60;

  private final AtomicLongArray places = new AtomicLongArray(PLACES);

  /** Whether it was asked for within a minute before; it is asked for now. */
  boolean ask(long key, long nowNanos) {
    long now = TimeUnit.NANOSECONDS.toSeconds(nowNanos) & SECONDS;
    return isLate(places.getAndSet((int) key & (PLACES - 1), (key & ~SECONDS) | now), key, now);
  }

  /** Whether it was asked for within a minute. */
  boolean has(long key, long nowNanos) {
    long now = TimeUnit.NANOSECONDS.toSeconds(nowNanos) & SECONDS;
    return isLate(places.get((int) key & (PLACES - 1)), key, now);
  }

  private static boolean isLate(long last, long key, long now) {
    boolean isSame = ((last ^ key) & ~SECONDS) == 0 && last != 0;
    return isSame && ((now - last) & SECONDS) <= LATELY;
  }
}
