package io.kamille.perf.wan;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Places for packets, of one size, beside the Java heap; the kernel gives their memory as they are
 * used. One thread.
 */
final class PacketPool {

  static final int SLOT_BYTES = 2048;

  /** What {@link #take} answers when all are in use. */
  static final int NONE = -1;

  private final MemorySegment memory;
  private final int[] free;
  private final short[] lengths;
  private int freeCount;

  PacketPool(Arena scope, int slots) {
    memory = scope.allocate((long) slots * SLOT_BYTES, 64);
    free = new int[slots];
    lengths = new short[slots];
    for (int i = 0; i < slots; i++) {
      free[i] = slots - 1 - i;
    }
    freeCount = slots;
  }

  int take() {
    return freeCount == 0 ? NONE : free[--freeCount];
  }

  void give(int slot) {
    free[freeCount++] = slot;
  }

  long address(int slot) {
    return memory.address() + (long) slot * SLOT_BYTES;
  }

  MemorySegment memory() {
    return memory;
  }

  long offset(int slot) {
    return (long) slot * SLOT_BYTES;
  }

  void length(int slot, int bytes) {
    lengths[slot] = (short) bytes;
  }

  int length(int slot) {
    return lengths[slot];
  }
}
