package io.kamille.core.loop;

import io.kamille.perf.MicroBench;
import org.openjdk.jmh.annotations.Benchmark;

/** What pacing costs: a decision for each poll, and one for each window of the trial. */
public class PacingBench extends MicroBench {

  private static final long WINDOW_NANOS = 50_000_000;

  private final TurnPacer pacer = new TurnPacer();
  private final PaceController controller = new PaceController(1);
  private final LoadSample load =
      new LoadSample(WINDOW_NANOS, 500, 1000, 1000, 0, 0, WINDOW_NANOS / 5, WINDOW_NANOS / 5);
  private long now;

  @Benchmark
  public long poll() {
    now += 10_000;
    pacer.interval(100_000);
    pacer.polled(now);
    return pacer.restNanos(now + 5000);
  }

  @Benchmark
  public long window() {
    now += WINDOW_NANOS;
    controller.window(load, now);
    return controller.intervalNanos();
  }
}
