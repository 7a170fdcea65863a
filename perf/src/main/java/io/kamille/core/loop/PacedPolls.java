package io.kamille.core.loop;

import io.kamille.core.loop.LoopMeter.Reading;
import io.kamille.core.metric.AnswerCounts;
import io.kamille.core.metric.MetricRegistry;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;

/**
 * The polls of one loop over any selector, paced by {@link PacedIoHandler}. A busy wait is taken
 * for welcome unless they are guarded. Counts may be asked for by any thread.
 */
public final class PacedPolls implements IoHandlerFactory {

  private final IoHandlerFactory selector;
  private final LoopControl control;
  private final LoopMeter meter = LoopMetrics.meter(new MetricRegistry(), "paced");

  private PacedPolls(IoHandlerFactory selector, LoopControl control) {
    this.selector = selector;
    this.control = control;
  }

  /** Paces the handlers of that factory. */
  public static PacedPolls over(IoHandlerFactory selector, PaceSettings pace) {
    var control = new LoopControl(pace);
    control.hasIdleProcessors(true);
    return new PacedPolls(selector, control);
  }

  /** The same, but a busy wait is welcome only while nobody else wants the processor. */
  public PacedPolls guarded() {
    control.hasIdleProcessors(false);
    var stalls = new StallDetector(List.of(), (_, _, _) -> {});
    LoopWatch.start(control, stalls, new IdleProcessors(Path.of("/proc")), List.of(meter));
    return this;
  }

  @Override
  public IoHandler newHandler(ThreadAwareExecutor executor) {
    return new PacedIoHandler(
        selector.newHandler(executor),
        control,
        LoopClock.SYSTEM,
        ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime,
        () -> AnswerCounts.NONE,
        new PaceController(1),
        meter);
  }

  @Override
  public boolean isChangingThreadSupported() {
    return false; // a handler remembers its thread, to wake it
  }

  /** How many polls there were. */
  public long count() {
    return meter.value(Reading.POLLS);
  }

  /** How many events they brought. */
  public long events() {
    return meter.value(Reading.EVENTS);
  }
}
