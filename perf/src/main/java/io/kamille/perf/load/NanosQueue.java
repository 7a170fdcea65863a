package io.kamille.perf.load;

/** First in, first out, without boxes; grows as needed. Confined. */
final class NanosQueue {

  private static final int BEGINNING = 1024;

  private long[] ring;
  private int head;
  private int size;

  NanosQueue() {
    this(BEGINNING);
  }

  /** With room for that many, a power of two, before it grows. */
  NanosQueue(int room) {
    ring = new long[room];
  }

  void add(long nanos) {
    if (size == ring.length) {
      grow();
    }
    ring[(head + size) & (ring.length - 1)] = nanos;
    size++;
  }

  private void grow() {
    long[] larger = new long[Math.multiplyExact(ring.length, 2)];
    for (int i = 0; i < size; i++) {
      larger[i] = ring[(head + i) & (ring.length - 1)];
    }
    ring = larger;
    head = 0;
  }

  /** The oldest; there must be one. */
  long peek() {
    assert size > 0;
    return ring[head];
  }

  /** Takes the oldest out; there must be one. */
  long remove() {
    assert size > 0;
    long nanos = ring[head];
    head = (head + 1) & (ring.length - 1);
    size--;
    return nanos;
  }

  boolean isEmpty() {
    return size == 0;
  }
}
