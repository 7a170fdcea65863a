package io.kamille.core.loop;

import io.kamille.core.metric.Histogram;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What one loop tells of itself. Written by its loop, but for {@code look}; any thread reads. */
final class LoopMeter {

  /** One number. */
  enum Reading {
    /** Odd during a turn, even while the loop waits or pauses. */
    PROGRESS,
    POLLS,
    EVENTS,
    PAUSES,
    PAUSE_NANOS,
    SPINS,
    PAID_SPINS,
    SPIN_NANOS,
    BUSY_NANOS,
    INTERVAL_NANOS,
    REASON,
    SPIN_BUDGET_NANOS,
    // Of the last window, as the bits of a double
    UTILISATION,
    // Between the last two looks, as the bits of a double
    POLLS_PER_SECOND,
    EVENTS_PER_POLL
  }

  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int PADDING = 8;

  private final long[] cells = new long[PADDING + Reading.values().length + PADDING];
  private final Histogram turns;
  private final AtomicReference<@Nullable PaceJudgement> judgement = new AtomicReference<>();

  // Of the last look. Confined to the thread that looks.
  private long lookNanos;
  private long lookPolls;
  private long lookEvents;

  LoopMeter(Histogram turns) {
    this.turns = turns;
  }

  void add(Reading reading, long amount) {
    int cell = PADDING + reading.ordinal();
    CELL.setOpaque(cells, cell, cells[cell] + amount);
  }

  void set(Reading reading, long value) {
    CELL.setOpaque(cells, PADDING + reading.ordinal(), value);
  }

  void set(Reading reading, double value) {
    set(reading, Double.doubleToRawLongBits(value));
  }

  /** Any thread. */
  long value(Reading reading) {
    return (long) CELL.getOpaque(cells, PADDING + reading.ordinal());
  }

  /** Any thread. */
  double ratio(Reading reading) {
    return Double.longBitsToDouble(value(reading));
  }

  /** Any thread. */
  PaceReason reason() {
    return PaceReason.values()[(int) value(Reading.REASON)];
  }

  /** What the last trial of pauses found; null before. Any thread. */
  @Nullable PaceJudgement judgement() {
    return judgement.getAcquire();
  }

  /** A turn begins: from now on the loop is busy. */
  void turnBegins() {
    if (!isInTurn()) {
      add(Reading.PROGRESS, 1);
    }
  }

  /** The turn is over, or there was none. */
  void turnEnds() {
    if (isInTurn()) {
      add(Reading.PROGRESS, 1);
    }
  }

  private boolean isInTurn() {
    return (cells[PADDING + Reading.PROGRESS.ordinal()] & 1) == 1;
  }

  /** How long a turn took. */
  void turnTook(long nanos) {
    add(Reading.BUSY_NANOS, nanos);
    turns.record(nanos);
  }

  /** How the loop paces itself, and why. */
  void pace(long intervalNanos, PaceReason reason) {
    set(Reading.INTERVAL_NANOS, intervalNanos);
    set(Reading.REASON, reason.ordinal());
  }

  /** What the last window was like, and what the last trial of pauses found. */
  void load(LoadSample load, @Nullable PaceJudgement found) {
    judgement.setRelease(found);
    set(Reading.UTILISATION, load.utilisation());
  }

  /** Nothing is measured from now on. */
  void forgetLoad() {
    set(Reading.UTILISATION, 0.0);
  }

  /**
   * Learns from the counters how often the loop polls, paced or not, so that it costs the loop
   * nothing. Called every second by one thread, which is not the loop's.
   */
  void sample(long nowNanos) {
    long polls = value(Reading.POLLS) - lookPolls;
    long events = value(Reading.EVENTS) - lookEvents;
    set(Reading.POLLS_PER_SECOND, polls * 1e9 / Math.max(1, nowNanos - lookNanos));
    set(Reading.EVENTS_PER_POLL, polls == 0 ? 0.0 : (double) events / polls);
    lookNanos = nowNanos;
    lookPolls += polls;
    lookEvents += events;
  }

  Histogram turns() {
    return turns;
  }
}
