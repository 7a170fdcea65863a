package io.kamille.core.log;

import io.kamille.core.metric.Counter;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A bounded pipe of whole lines from one loop to the writer. Each method belongs to one of the two
 * threads, as it says.
 */
final class LineRing {

  /*
   * Positions only grow; their lower bits are the offset. The loop publishes its position with a
   * release store after the octets, the writer its own after it has read them; the loop looks at
   * the writer's only when its last look does not suffice. The two shared positions lie two cache
   * lines apart.
   */
  private static final int WRITER = 8;
  private static final int LOOP = 24;

  private final byte[] octets;
  private final int mask;
  private final Counter dropped;
  private final AtomicLongArray shared = new AtomicLongArray(32);

  // The loop's
  private long end;
  private long startSeen;
  private long wakeCheck;

  // The writer's
  private long start;

  /**
   * An empty ring.
   *
   * @param capacity in octets, a power of two
   * @param dropped counts lines that found no room
   */
  LineRing(int capacity, Counter dropped) {
    octets = new byte[capacity];
    mask = capacity - 1;
    wakeCheck = capacity / 2;
    this.dropped = dropped;
  }

  /** Appends a line, or drops and counts it if there is no room. Loop. */
  void add(byte[] line, int length) {
    if (end + length - startSeen > octets.length) {
      startSeen = shared.getAcquire(WRITER);
      if (end + length - startSeen > octets.length) {
        dropped.increment();
        return;
      }
    }
    int offset = (int) end & mask;
    int first = Math.min(length, octets.length - offset);
    System.arraycopy(line, 0, octets, offset, first);
    System.arraycopy(line, first, octets, 0, length - first);
    end += length;
    shared.setRelease(LOOP, end);
  }

  /** Whether half of the ring is full; true once for each quarter written since. Loop. */
  boolean isFilling() {
    if (end < wakeCheck) {
      return false;
    }
    startSeen = shared.getAcquire(WRITER);
    boolean isHalfFull = end - startSeen >= octets.length / 2;
    wakeCheck = isHalfFull ? end + octets.length / 4 : startSeen + octets.length / 2;
    return isHalfFull;
  }

  /** Moves all that waits behind what {@code target} has, with room for a whole ring. Writer. */
  void drainTo(ByteBuffer target) {
    long until = shared.getAcquire(LOOP);
    int offset = (int) start & mask;
    int length = (int) (until - start);
    int first = Math.min(length, octets.length - offset);
    target.put(octets, offset, first).put(octets, 0, length - first);
    start = until;
    shared.setRelease(WRITER, start);
  }

  /** How many lines found no room. Any thread. */
  long dropped() {
    return dropped.value();
  }
}
