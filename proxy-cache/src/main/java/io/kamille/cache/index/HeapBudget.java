package io.kamille.cache.index;

/** Where an index accounts for what its entries take on the heap. Any thread. */
@FunctionalInterface
public interface HeapBudget {

  /** Grants everything. */
  HeapBudget UNLIMITED = changeBytes -> true;

  /**
   * Counts octets on the heap.
   *
   * @param changeBytes how many more, or, negative, less; a multiple of 64
   * @return false if more is refused, and nothing has changed; less is always granted
   */
  boolean charge(long changeBytes);
}
