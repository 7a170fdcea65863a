package io.kamille.cache.index;

/** The memory that an index shares with what is being stored. Any thread. */
@FunctionalInterface
public interface IndexMemory {

  /**
   * Counts octets that the entries take on the heap.
   *
   * @param changeBytes how many more, or, negative, less; a multiple of 64
   * @return false if more is refused, and nothing has changed; less is always granted
   */
  boolean charge(long changeBytes);

  /** How many octets are free, or come free soon without anybody's doing. */
  default long freeBytes() {
    return Long.MAX_VALUE;
  }
}
