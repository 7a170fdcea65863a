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
   *  63     61 60                            0
   * ┌─────────┬───────────────────────────────┐
   * │ event+1 │ weight                        │
   * └─────────┴───────────────────────────────┘
   *
   * An event claims its place by moving the tail on; of two that try at the same moment one is
   * lost. A place that is claimed and not written yet ends the reading until the next time. There
   * are several rings, and a thread always uses the same.
   */
  private static final int SIZE = 256;
  private static final int RINGS_MAXIMUM = 64;
  private static final int EVENT_SHIFT = 61;
  private static final long WEIGHT_MASK = (1L << EVENT_SHIFT) - 1;

  /** What has happened with a key. */
  enum Event {
    /** It was asked for and found. */
    FOUND,
    /** It was asked for and not found; what it weighs is not known. */
    MISSED,
    /** What was not found is stored, or could have been. */
    STORED,
    /** It was removed, and not for want of room. */
    REMOVED;

    private static final Event[] ALL = values();
  }

  /** Hears of what was noted. */
  @FunctionalInterface
  interface Reader {

    /** That event, of that key, which weighs so much. */
    void hear(Event event, long hash, int units);
  }

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

  /** Notes an event of a key which weighs so much. */
  void note(Event event, long hash, long units) {
    rings[(int) Thread.currentThread().threadId() & (rings.length - 1)].put(
        hash, (event.ordinal() + 1L) << EVENT_SHIFT | (units & WEIGHT_MASK));
  }

  /** Tells all that was noted, and forgets it. */
  void tell(Reader reader) {
    for (Ring ring : rings) {
      ring.tell(reader);
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

    void tell(Reader reader) {
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
        int units = (int) Math.min(event & WEIGHT_MASK, Integer.MAX_VALUE);
        reader.hear(Event.ALL[(int) (event >>> EVENT_SHIFT) - 1], hash, units);
      }
    }
  }
}
