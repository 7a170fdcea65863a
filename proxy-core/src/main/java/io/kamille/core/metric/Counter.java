package io.kamille.core.metric;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A count with one writer, usually a loop. Confined to its writer; {@link #value} any thread. */
public final class Counter {

  /*
   * The writer reads its own last value plainly and stores the next one opaquely: the same
   * instructions as an ordinary increment, no lock prefix, and readers see every value soon and
   * never a torn one. Counters of several loops lie next to each other wherever the collector moves
   * them; the value stands in the middle of an array two cache lines long, so that no line has two
   * writers.
   */
  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int LENGTH = 16;
  private static final int VALUE = 8;

  private final long[] cell = new long[LENGTH];

  Counter() {}

  public void increment() {
    add(1);
  }

  /** Adds {@code amount}, which is zero or more. */
  public void add(long amount) {
    assert amount >= 0 : amount;
    CELL.setOpaque(cell, VALUE, cell[VALUE] + amount);
  }

  /** What was counted so far. Any thread. */
  public long value() {
    return (long) CELL.getOpaque(cell, VALUE);
  }
}
