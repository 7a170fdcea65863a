package io.kamille.cache.index;

import org.jspecify.annotations.Nullable;

/**
 * Something that a {@link Replacement} keeps in order: its place in one list, and its weight.
 * Confined to whoever holds the lock of the order.
 */
abstract class Node {

  /*
   * There is one for each stored response, so the list it is in is a number beside its weight:
   *
   *  31      29 28                            0
   * ┌──────────┬───────────────────────────────┐
   * │ list     │ weight                        │
   * └──────────┴───────────────────────────────┘
   */
  private static final int UNITS_BITS = 29;

  /** The most a node can weigh; what weighs more counts for so much. */
  static final int UNITS_LIMIT = (1 << UNITS_BITS) - 1;

  /** The number of no list. */
  static final int NOWHERE = 0;

  @Nullable Node previous;
  @Nullable Node next;
  private int place;

  /** The number of the list it is in, or {@link #NOWHERE}. */
  final int list() {
    return place >>> UNITS_BITS;
  }

  final boolean isListed() {
    return list() != NOWHERE;
  }

  /** Says which list it is in, for the list alone. */
  final void list(int number) {
    place = (number << UNITS_BITS) | units();
  }

  /** What it weighs, in units of the order it is in. */
  final int units() {
    return place & UNITS_LIMIT;
  }

  /** Says what it weighs; while it is in a list, for the list alone. */
  final void units(int units) {
    place = (place & ~UNITS_LIMIT) | Math.min(units, UNITS_LIMIT);
  }

  /** What frequency is counted by; equal for the same thing, also when it comes back. */
  abstract long hash();
}
