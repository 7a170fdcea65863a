package io.kamille.cache.disk;

/**
 * A set of hashes in fixed memory, that may take one for another's: a Bloom filter. Confined to one
 * thread.
 */
final class KeyFilter {

  private static final int HASHES = 4;

  private final long[] words;

  /**
   * An empty one.
   *
   * @param words how many longs it has, a power of two
   */
  KeyFilter(int words) {
    this.words = new long[words];
  }

  /**
   * Takes in a hash.
   *
   * @param hash of which all bits are as good as random
   */
  void add(long hash) {
    for (int i = 0; i < HASHES; i++) {
      long place = place(hash, i);
      words[(int) (place >>> 6)] |= 1L << place;
    }
  }

  /** False if it was surely not taken in. */
  boolean mayHave(long hash) {
    for (int i = 0; i < HASHES; i++) {
      long place = place(hash, i);
      if ((words[(int) (place >>> 6)] & 1L << place) == 0) {
        return false;
      }
    }
    return true;
  }

  /** Two halves of the hash make all the places (Kirsch and Mitzenmacher, 2006). */
  private long place(long hash, int which) {
    long step = (hash >>> 32) | 1;
    return (hash + which * step * 0x9e3779b97f4a7c15L) >>> 8 & (words.length * 64L - 1);
  }
}
