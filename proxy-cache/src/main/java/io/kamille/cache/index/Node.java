package io.kamille.cache.index;

import org.jspecify.annotations.Nullable;

/**
 * Something that a {@link Replacement} keeps in order: its place in one list, and its weight.
 * Confined to whoever holds the lock of the order.
 */
abstract class Node {

  @Nullable Node previous;
  @Nullable Node next;

  /** The list it is in, or null. */
  @Nullable NodeList list;

  /** What it weighs, in units of the order it is in. */
  int units;

  /** What frequency is counted by; equal for the same thing, also when it comes back. */
  abstract long hash();
}
