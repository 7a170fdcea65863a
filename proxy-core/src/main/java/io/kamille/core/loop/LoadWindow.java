package io.kamille.core.loop;

import io.kamille.core.metric.AnswerCounts;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Adds up what a loop does until somebody wants to know. Confined to its loop. */
final class LoadWindow {

  private static final int POLLS_PER_LOOK = 32;

  private final LongSupplier cpuNanos;
  private final Supplier<AnswerCounts> answers;
  private long startNanos;
  private long startCpuNanos;
  private AnswerCounts start = AnswerCounts.NONE;
  private long polls;
  private long events;
  private long busyNanos;

  /**
   * An empty window.
   *
   * @param cpuNanos processor time of the calling thread so far, asked once per window
   * @param answers so far, asked as often
   */
  LoadWindow(LongSupplier cpuNanos, Supplier<AnswerCounts> answers) {
    this.cpuNanos = cpuNanos;
    this.answers = answers;
  }

  /** Forgets everything and begins now. */
  void restart(long nowNanos) {
    begin(nowNanos, cpuNanos.getAsLong());
  }

  void polled(int found) {
    polls++;
    events += found;
  }

  /** Whether it is worth a look at the clock: so it is after every few polls. */
  boolean isTimeToLook() {
    return polls % POLLS_PER_LOOK == 0;
  }

  void busy(long nanos) {
    busyNanos += nanos;
  }

  long elapsedNanos(long nowNanos) {
    return nowNanos - startNanos;
  }

  /** What happened until now, when the next window begins. */
  LoadSample next(long nowNanos) {
    long cpu = cpuNanos.getAsLong();
    AnswerCounts now = answers.get();
    LoadSample sample =
        new LoadSample(
            nowNanos - startNanos,
            polls,
            events,
            now.requests() == 0 ? events : now.requests() - start.requests(),
            now.forwarded() - start.forwarded(),
            now.forwardedNanos() - start.forwardedNanos(),
            busyNanos,
            cpu - startCpuNanos);
    begin(nowNanos, cpu);
    return sample;
  }

  /** The same where turns were not timed: all processor time counts as busy. */
  LoadSample nextUntimed(long nowNanos) {
    busyNanos = cpuNanos.getAsLong() - startCpuNanos;
    return next(nowNanos);
  }

  private void begin(long nowNanos, long cpu) {
    startNanos = nowNanos;
    startCpuNanos = cpu;
    start = answers.get();
    polls = 0;
    events = 0;
    busyNanos = 0;
  }
}
