package io.kamille.cache.purge;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The number of the last purge of each name, in a table of fixed size. Whoever raises numbers holds
 * the lock of {@link PurgeTable}; reading takes none.
 */
public final class PurgeNumbers {

  /*
   * A count-min sketch. A name has HASHES slots, and each holds the largest number of all names that
   * share it. So the least of them is the name's own number, or, seldom, that of a later purge of
   * others: then one response too much is purged, and never one too few.
   *
   * After 100,000 others, a name is wrong once in a million times. All pages take 24 MiB; each comes
   * into being with the first purge that needs it.
   */
  private static final int HASHES = 12;
  private static final int PAGE_BITS = 9;
  private static final long STEP = 0x9e3779b97f4a7c15L;

  /** How many pages there are at the most. */
  public static final int PAGES = 6 << 10;

  /** How many numbers a page has. */
  public static final int PAGE = 1 << PAGE_BITS;

  private final AtomicReferenceArray<@Nullable AtomicLongArray> pages =
      new AtomicReferenceArray<>(PAGES);

  /** A name was purged. */
  void raise(long name, long number) {
    for (int i = 0; i < HASHES; i++) {
      int slot = slot(name, i);
      raise(slot >>> PAGE_BITS, slot & (PAGE - 1), number);
    }
  }

  /** A number of another table, which holds here too. */
  public void raise(int page, int at, long number) {
    AtomicLongArray numbers = pages.getPlain(page);
    if (numbers == null) {
      numbers = new AtomicLongArray(PAGE);
      pages.setRelease(page, numbers);
    }
    if (numbers.getPlain(at) < number) {
      numbers.setOpaque(at, number);
    }
  }

  /** All that another table says holds here too; returns the largest number there. */
  long raise(PurgeNumbers others) {
    long largest = 0;
    for (int page = 0; page < PAGES; page++) {
      AtomicLongArray numbers = others.pages.getAcquire(page);
      for (int at = 0; numbers != null && at < PAGE; at++) {
        long number = numbers.getOpaque(at);
        if (number > 0) {
          raise(page, at, number);
          largest = Math.max(largest, number);
        }
      }
    }
    return largest;
  }

  /** The last purge of that name, if it came after that one; else 0. */
  long since(long since, long name) {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < HASHES; i++) {
      int slot = slot(name, i);
      AtomicLongArray numbers = pages.getAcquire(slot >>> PAGE_BITS);
      long number = numbers == null ? 0 : numbers.getOpaque(slot & (PAGE - 1));
      if (number <= since) {
        return 0;
      }
      least = Math.min(least, number);
    }
    return least;
  }

  /** A copy of that page; null if all its numbers are 0. */
  public long @Nullable [] page(int page) {
    AtomicLongArray numbers = pages.getAcquire(page);
    if (numbers == null) {
      return null;
    }
    long[] copy = new long[PAGE];
    for (int at = 0; at < PAGE; at++) {
      copy[at] = numbers.getOpaque(at);
    }
    return copy;
  }

  private static int slot(long name, int hash) {
    long mixed = mixed(name + hash * STEP) >>> Integer.SIZE;
    return (int) ((mixed * (PAGES * PAGE)) >>> Integer.SIZE);
  }

  /** Each bit of the result depends on each bit of the value (the finalizer of MurmurHash3). */
  static long mixed(long value) {
    long mixed = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return mixed ^ (mixed >>> 33);
  }
}
