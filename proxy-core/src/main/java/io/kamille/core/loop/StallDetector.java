package io.kamille.core.loop;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Finds turns that take too long, by looking at the loops from outside. Confined to the thread that
 * looks; the counts any thread.
 */
final class StallDetector {

  /*
   * A loop only counts: its progress is odd during a turn. Whoever sees the same odd number twice
   * knows that one turn has lasted from the first look to the second, at least. So a turn that is
   * reported took longer than the limit, and with two looks per limit every turn of one and a half
   * times the limit is reported, once.
   */

  /**
   * One loop, from outside.
   *
   * @param progress odd during a turn; another number after it
   */
  record Loop(String name, LongSupplier progress, Supplier<StackTraceElement[]> stack) {}

  /** Where stalls are told. */
  interface Listener {

    /**
     * A turn has taken so long.
     *
     * @param stack what the loop did when it was looked at; empty if the turn was over by then
     */
    void stalled(String loop, long nanos, StackTraceElement[] stack);
  }

  private static final StackTraceElement[] OVER = {};

  private final List<Sight> sights;
  private final Listener listener;

  StallDetector(List<Loop> loops, Listener listener) {
    this.sights = loops.stream().map(Sight::new).toList();
    this.listener = listener;
  }

  /** Looks at every loop. */
  void check(long nowNanos, long limitNanos) {
    for (Sight sight : sights) {
      sight.check(nowNanos, limitNanos);
    }
  }

  /** Stalls of one loop so far. Any thread. */
  long stalls(int loop) {
    return sights.get(loop).stalls.get();
  }

  /** What was last seen of one loop. */
  private final class Sight {

    private final Loop loop;
    private final AtomicLong stalls = new AtomicLong();
    private long progress;
    private long sinceNanos;
    private boolean isReported;

    Sight(Loop loop) {
      this.loop = loop;
    }

    void check(long nowNanos, long limitNanos) {
      long seen = loop.progress().getAsLong();
      if (seen != progress) {
        progress = seen;
        sinceNanos = nowNanos;
        isReported = false;
      } else if (isInTurn() && !isReported && nowNanos - sinceNanos >= limitNanos) {
        isReported = true;
        report(nowNanos - sinceNanos);
      }
    }

    private boolean isInTurn() {
      return (progress & 1) == 1;
    }

    private void report(long nanos) {
      stalls.incrementAndGet();
      StackTraceElement[] stack = loop.stack().get();
      listener.stalled(loop.name(), nanos, loop.progress().getAsLong() == progress ? stack : OVER);
    }
  }
}
