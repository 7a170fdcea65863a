package io.kamille.perf.wan;

import java.util.Arrays;

/**
 * Packets on their way in one direction, in the order they will arrive. Grows by doubling. One
 * thread.
 */
final class PacketQueue {

  private long[] due = new long[64];
  private int[] slots = new int[64];
  private int first;
  private int count;

  boolean isEmpty() {
    return count == 0;
  }

  int count() {
    return count;
  }

  /** Adds a packet that is due no earlier than the last one. */
  void add(long dueNanos, int slot) {
    if (count == due.length) {
      grow();
    }
    int at = (first + count++) & (due.length - 1);
    due[at] = dueNanos;
    slots[at] = slot;
  }

  private void grow() {
    int length = due.length;
    long[] moreDue = Arrays.copyOfRange(due, first, first + 2 * length);
    int[] moreSlots = Arrays.copyOfRange(slots, first, first + 2 * length);
    System.arraycopy(due, 0, moreDue, length - first, first);
    System.arraycopy(slots, 0, moreSlots, length - first, first);
    due = moreDue;
    slots = moreSlots;
    first = 0;
  }

  /** When the first packet is due; the queue is not empty. */
  long dueNanos() {
    return due[first];
  }

  /** Takes the first packet away; the queue is not empty. */
  int take() {
    int slot = slots[first];
    first = (first + 1) & (due.length - 1);
    count--;
    return slot;
  }
}
