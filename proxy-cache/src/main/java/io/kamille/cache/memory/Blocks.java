package io.kamille.cache.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
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

  private long @Nullable [] more;

  /** Of the appending thread; whoever frees comes after it. Others walk until {@code NONE}. */
  private int count;

  /** The block at {@code index}, {@link Block#NONE} after the last. */
  final long block(int index) {
    if (index == 0) {
      return (long) FIRST.getOpaque(this);
    }
    long[] rest = (long[]) MORE.getAcquire(this);
    return rest == null || index > rest.length
        ? Block.NONE
        : (long) ELEMENT.getOpaque(rest, index - 1);
  }

  /** The granule after the last block's end, or -1 without blocks. */
  final long endGranule() {
    return count == 0 ? -1 : Block.endGranule(block(count - 1));
  }

  /** Adds {@code block} at the end; one that continues the last block makes it longer. */
  final void append(long block) {
    if (count > 0) {
      long last = block(count - 1);
      long granules = Block.granules(last) + Block.granules(block);
      if (Block.endGranule(last) == Block.firstGranule(block) && granules <= Block.GRANULES_LIMIT) {
        set(count - 1, Block.of(Block.firstGranule(last), granules));
        return;
      }
    }
    set(count, block);
    count++;
  }

  /** Keeps the first {@code granules} and gives what lies behind them back to {@code arena}. */
  final void trim(long granules, Arena arena) {
    long left = granules;
    int kept = 0;
    for (int index = 0; index < count; index++) {
      long block = block(index);
      long length = Block.granules(block);
      long keep = Math.min(length, left);
      if (keep < length) {
        long start = Block.firstGranule(block);
        set(index, keep == 0 ? Block.NONE : Block.of(start, keep));
        arena.give(Block.of(start + keep, length - keep));
      }
      left -= keep;
      kept += keep == 0 ? 0 : 1;
    }
    count = kept;
    long[] rest = more;
    int length = Math.max(0, count - 1);
    if (rest != null && rest.length != length) {
      MORE.setRelease(this, length == 0 ? null : Arrays.copyOf(rest, length));
    }
  }

  /** Gives all blocks back to {@code arena}, of which regions were given out. */
  final void giveSent(Arena arena) {
    for (int index = 0; index < count; index++) {
      arena.giveSent(block(index));
    }
    count = 0;
    FIRST.setOpaque(this, Block.NONE);
    MORE.setRelease(this, null);
  }

  private void set(int index, long block) {
    if (index == 0) {
      FIRST.setOpaque(this, block);
      return;
    }
    long[] rest = more;
    if (rest == null || index > rest.length) {
      rest = rest == null ? new long[3] : Arrays.copyOf(rest, rest.length * 2);
      rest[index - 1] = block;
      MORE.setRelease(this, rest);
      return;
    }
    ELEMENT.setOpaque(rest, index - 1, block);
  }
}
