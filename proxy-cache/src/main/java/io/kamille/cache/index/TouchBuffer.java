package io.kamille.cache.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What was used, on its way to the order of an index. Anybody puts in, without waiting and without
 * garbage; what finds no room is lost. Taken out by whoever holds the lock of the index.
 */
final class TouchBuffer {

  /*
   * Puts claim a place by moving the tail on; of two that try at the same moment one is lost. A place
   * that is claimed and not written yet ends the reading until the next time. Head and tail are in
   * objects of their own, which is no promise of lines of their own, but there are several buffers,
   * and a thread always uses the same.
   */
  private static final int SIZE = 64;
  private static final int MASK = SIZE - 1;
  private static final int MANY = SIZE / 2;

  private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(Node[].class);

  private final @Nullable Node[] places = new Node[SIZE];
  private final AtomicLong head = new AtomicLong();
  private final AtomicLong tail = new AtomicLong();

  /** Notes that a node was used; true if it is time to empty the buffer. */
  boolean put(Node node) {
    long at = tail.getOpaque();
    long waiting = at - head.getAcquire();
    if (waiting < SIZE && tail.compareAndSet(at, at + 1)) {
      PLACE.setRelease(places, (int) at & MASK, node);
    }
    return waiting >= MANY;
  }

  /** The next node that was used, or null. */
  @Nullable Node take() {
    long at = head.getPlain();
    Node node = (Node) PLACE.getAcquire(places, (int) at & MASK);
    if (node != null) {
      PLACE.set(places, (int) at & MASK, (Node) null);
      head.setRelease(at + 1);
    }
    return node;
  }
}
