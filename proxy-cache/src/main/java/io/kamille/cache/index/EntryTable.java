package io.kamille.cache.index;

import io.kamille.cache.key.CacheKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Entries by their keys. {@link #find} and {@link #size} may be called by any thread and never
 * wait; everything else belongs to whoever holds the lock of the index.
 */
@SuppressWarnings("ReferenceEquality") // an entry is itself
final class EntryTable {

  /*
   * Open addressing with linear probing: a key costs one reference and its share of what is empty,
   * about 7 octets, where a node of a ConcurrentHashMap with its key takes 55. Many parts keep the
   * array short that has to be written anew when a part grows, which it does by a quarter.
   *
   * What is taken out closes its gap: entries behind it move forward, each first to its new place
   * and then away from the old one. A reader who went past the new place before and comes to the old
   * one after it would not see the entry. So the stamp of a part is odd while entries move, and
   * different afterwards; who finds nothing looks again if it was not even and the same all the time.
   * After a few tries he says that nothing is there: no reader waits for a writer that was put to
   * sleep, and a miss too many costs one request to the origin.
   */
  static final int PARTS = 256;

  private static final int LEAST_SLOTS = 8;
  private static final int TRIES = 4;
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Entry[].class);
  private static final VarHandle SLOTS;
  private static final VarHandle STAMP;

  static {
    try {
      var lookup = MethodHandles.lookup();
      SLOTS = lookup.findVarHandle(Part.class, "slots", Entry[].class);
      STAMP = lookup.findVarHandle(Part.class, "stamp", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Part[] parts = new Part[PARTS];
  private final AtomicInteger size = new AtomicInteger();

  EntryTable() {
    Arrays.setAll(parts, i -> new Part());
  }

  private static final class Part {

    private @Nullable Entry[] slots = new Entry[LEAST_SLOTS];
    private int count;

    @SuppressWarnings("UnusedVariable") // by its handle
    private int stamp;
  }

  /** The entry of that key, or null. */
  @Nullable Entry find(CacheKey key) {
    Part part = part(key.high());
    for (int i = 0; i < TRIES; i++) {
      int stamp = (int) STAMP.getAcquire(part);
      Entry found = find(key, (@Nullable Entry[]) SLOTS.getAcquire(part));
      if (found != null) {
        return found;
      }
      VarHandle.loadLoadFence();
      if ((stamp & 1) == 0 && stamp == (int) STAMP.getOpaque(part)) {
        return null;
      }
      Thread.onSpinWait();
    }
    return null;
  }

  private static @Nullable Entry find(CacheKey key, @Nullable Entry[] slots) {
    int at = home(key.low(), slots.length);
    for (int i = 0; i < slots.length; i++) {
      Entry entry = (Entry) SLOT.getAcquire(slots, at);
      if (entry == null || entry.isOf(key)) {
        return entry;
      }
      at = next(at, slots.length);
    }
    return null;
  }

  int size() {
    return size.get();
  }

  /** Takes in an entry whose key is not here. */
  void add(Entry entry) {
    Part part = part(entry.high());
    if ((part.count + 1) * 3L > part.slots.length * 2L) {
      grow(part);
    }
    put(entry, part.slots);
    part.count++;
    size.incrementAndGet();
  }

  private static void put(Entry entry, @Nullable Entry[] slots) {
    int at = home(entry.hash(), slots.length);
    while (slots[at] != null) {
      at = next(at, slots.length);
    }
    SLOT.setRelease(slots, at, entry);
  }

  private static void grow(Part part) {
    @Nullable Entry[] more = new Entry[part.slots.length + Math.max(4, part.slots.length / 4)];
    for (Entry entry : part.slots) {
      if (entry != null) {
        put(entry, more);
      }
    }
    SLOTS.setRelease(part, more);
  }

  /** Takes out an entry that is here. */
  void remove(Entry entry) {
    Part part = part(entry.high());
    @Nullable Entry[] slots = part.slots;
    int gap = home(entry.hash(), slots.length);
    while (slots[gap] != entry) {
      gap = next(gap, slots.length);
    }
    STAMP.setOpaque(part, part.stamp + 1);
    VarHandle.releaseFence();
    int at = next(gap, slots.length);
    for (Entry other = slots[at]; other != null; other = slots[at]) {
      if (mayMove(home(other.hash(), slots.length), gap, at)) {
        SLOT.setRelease(slots, gap, other);
        gap = at;
      }
      at = next(at, slots.length);
    }
    SLOT.setRelease(slots, gap, null);
    STAMP.setRelease(part, part.stamp + 1);
    part.count--;
    size.decrementAndGet();
  }

  /** Whether an entry at {@code at} is still found from its home when it lies in the gap. */
  private static boolean mayMove(int home, int gap, int at) {
    return gap <= at ? (home <= gap || home > at) : (home <= gap && home > at);
  }

  /** The entries of one of the {@link #PARTS}. */
  Entry[] part(int number) {
    Part part = parts[number];
    Entry[] entries = new Entry[part.count];
    int count = 0;
    for (Entry entry : part.slots) {
      if (entry != null) {
        entries[count++] = Objects.requireNonNull(entry);
      }
    }
    return entries;
  }

  private Part part(long high) {
    return parts[(int) ((high * SPREAD) >>> 56)];
  }

  /** Any length will do: the upper half of the product is below it. */
  private static int home(long low, int length) {
    return (int) ((((low * SPREAD) >>> 32) * length) >>> 32);
  }

  private static int next(int at, int length) {
    return at + 1 == length ? 0 : at + 1;
  }
}
