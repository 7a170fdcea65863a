package io.kamille.cache.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The blocks of one stored octet sequence, in order: nearly always one, kept in a field. */
abstract class Blocks {

  /*
   * One thread appends; others may read at the same time, but only blocks that lie below a length
   * published after the append (StoredBytes). What they read may meanwhile have grown in place or
   * lost its unused end, never moved. So the elements are opaque (no torn longs), and a replaced
   * array is published with release, because a reader may meet it before the length that covers it.
   */

  private static final VarHandle FIRST;
  private static final VarHandle MORE;
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

  static {
    try {
      var lookup = MethodHandles.lookup();
      FIRST = lookup.findVarHandle(Blocks.class, "first", long.class);
      MORE = lookup.findVarHandle(Blocks.class, "more", long[].class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("UnusedVariable") // used through FIRST
  private long first = Block.NONE;

  /**
   * How many blocks there are, then all after the first one; null until there is a second. The
   * number is for the appending thread, and whoever frees comes after it; others walk until {@code
   * NONE}.
   */
  private long @Nullable [] more;

  /** The block at {@code index}, {@link Block#NONE} after the last. */
  final long block(int index) {
    if (index == 0) {
      return (long) FIRST.getOpaque(this);
    }
    long[] rest = (long[]) MORE.getAcquire(this);
    return rest == null || index >= rest.length
        ? Block.NONE
        : (long) ELEMENT.getOpaque(rest, index);
  }

  private int count() {
    long[] rest = more;
    if (rest != null) {
      return (int) rest[0];
    }
    return block(0) == Block.NONE ? 0 : 1;
  }

  /** The granule after the last block's end, or -1 without blocks. */
  final long endGranule() {
    int count = count();
    return count == 0 ? -1 : Block.endGranule(block(count - 1));
  }

  /** Adds {@code block} at the end; one that continues the last block makes it longer. */
  final void append(long block) {
    int count = count();
    if (count > 0) {
      long last = block(count - 1);
      long granules = Block.granules(last) + Block.granules(block);
      if (Block.endGranule(last) == Block.firstGranule(block) && granules <= Block.GRANULES_LIMIT) {
        set(count - 1, Block.of(Block.firstGranule(last), granules));
        return;
      }
    }
    set(count, block);
  }

  /** Keeps the first {@code granules} and gives what lies behind them back to {@code arena}. */
  final void trim(long granules, Arena arena) {
    int count = count();
    long left = granules;
    int kept = 0;
    for (int index = 0; index < count; index++) {
      long block = block(index);
      long length = Block.granules(block);
      long keep = Math.min(length, left);
      if (keep < length) {
        long start = Block.firstGranule(block);
        replace(index, keep == 0 ? Block.NONE : Block.of(start, keep));
        arena.give(Block.of(start + keep, length - keep));
      }
      left -= keep;
      kept += keep == 0 ? 0 : 1;
    }
    long[] rest = more;
    if (rest != null && rest.length != kept) {
      long[] exact = kept <= 1 ? null : Arrays.copyOf(rest, kept);
      if (exact != null) {
        exact[0] = kept;
      }
      MORE.setRelease(this, exact);
    }
  }

  /** Gives all blocks back to {@code arena}, of which regions were given out. */
  final void giveSent(Arena arena) {
    int count = count();
    for (int index = 0; index < count; index++) {
      arena.giveSent(block(index));
    }
    FIRST.setOpaque(this, Block.NONE);
    MORE.setRelease(this, null);
  }

  private void set(int index, long block) {
    if (index == 0) {
      FIRST.setOpaque(this, block);
      return;
    }
    long[] rest = more;
    if (rest == null || index >= rest.length) {
      rest = rest == null ? new long[4] : Arrays.copyOf(rest, rest.length * 2);
      rest[index] = block;
      rest[0] = index + 1L;
      MORE.setRelease(this, rest);
      return;
    }
    ELEMENT.setOpaque(rest, index, block);
    rest[0] = Math.max(rest[0], index + 1L);
  }

  private void replace(int index, long block) {
    if (index == 0) {
      FIRST.setOpaque(this, block);
    } else {
      ELEMENT.setOpaque(Objects.requireNonNull(more), index, block);
    }
  }
}
