package io.kamille.cache.index;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Sampled requests on their way to the judge. Any thread notes, without waiting and without
 * garbage; what finds no room is lost. One thread at a time reads.
 */
final class RequestSamples {

  /*
   * Two longs for each event: its hash, and what happened, never 0:
   *
   *  63  62 61                             0
   * ┌──────┬────────────────────────────────┐
   * │ what │ weight                         │
   * └──────┴────────────────────────────────┘
   *
   * An event claims its place by moving the tail on; of two that try at the same moment one is
   * lost. A place that is claimed and not written yet ends the reading until the next time. There
   * are several rings, and a thread always uses the same.
   */
  private static final int SIZE = 256;
  private static final int RINGS_MAXIMUM = 64;
  private static final int WHAT_SHIFT = 62;
  private static final long FOUND = 1;
  private static final long MISSED = 2;
  private static final long STORED = 3;
  private static final long REMOVED = 0;
  private static final long WEIGHT_MASK = (1L << WHAT_SHIFT) - 1;

  private final Ring[] rings = new Ring[ringCount()];

  RequestSamples() {
    for (int i = 0; i < rings.length; i++) {
      rings[i] = new Ring();
    }
  }

  private static int ringCount() {
    int wanted = Math.min(RINGS_MAXIMUM, 2 * Runtime.getRuntime().availableProcessors());
    return Integer.highestOneBit(wanted);
  }

  /** Something was asked for and found. */
  void found(long hash, int units) {
    note(hash, FOUND << WHAT_SHIFT | units);
  }

  /** Something was asked for and not found. */
  void missed(long hash) {
    note(hash, MISSED << WHAT_SHIFT);
  }

  /** Something that was not found is stored, or could have been. */
  void stored(long hash, long units) {
    note(hash, STORED << WHAT_SHIFT | (units & WEIGHT_MASK));
  }

  /** Something was removed, and not for want of room. */
  void removed(long hash) {
    note(hash, REMOVED << WHAT_SHIFT | 1);
  }

  private void note(long hash, long event) {
    rings[(int) Thread.currentThread().threadId() & (rings.length - 1)].put(hash, event);
  }

  /** Tells the judge all that was noted, and forgets it. */
  void tell(PolicyJudge judge) {
    for (Ring ring : rings) {
      ring.tell(judge);
    }
  }

  private static final class Ring {

    private final AtomicLongArray places = new AtomicLongArray(2 * SIZE);
    private final AtomicLong head = new AtomicLong();
    private final AtomicLong tail = new AtomicLong();

    void put(long hash, long event) {
      long at = tail.getOpaque();
      if (at - head.getAcquire() < SIZE && tail.compareAndSet(at, at + 1)) {
        int place = place(at);
        places.setPlain(place, hash);
        places.setRelease(place + 1, event);
      }
    }

    private static int place(long at) {
      return 2 * ((int) at & (SIZE - 1));
    }

    void tell(PolicyJudge judge) {
      for (int i = 0; i < SIZE; i++) {
        long at = head.getPlain();
        int place = place(at);
        long event = places.getAcquire(place + 1);
        if (event == 0) {
          return;
        }
        long hash = places.getPlain(place);
        places.setPlain(place + 1, 0);
        head.setRelease(at + 1);
        tell(judge, hash, event);
      }
    }

    private static void tell(PolicyJudge judge, long hash, long event) {
      int units = (int) Math.min(event & WEIGHT_MASK, Integer.MAX_VALUE);
      long what = event >>> WHAT_SHIFT;
      if (what == FOUND) {
        judge.found(hash, units);
      } else if (what == MISSED) {
        judge.missed(hash);
      } else if (what == STORED) {
        judge.stored(hash, units);
      } else {
        judge.removed(hash);
      }
    }
  }
}
