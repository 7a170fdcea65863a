package io.kamille.core.trace;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.loop.WallClock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The recording of exchanges on all loops. Any thread. */
public final class Tracing {

  private final WallClock clock;
  private final AtomicReference<LoopTracer.Plan> plan;
  private final List<LoopTracer> loops = new CopyOnWriteArrayList<>();

  /** Recording that goes by these settings. */
  public Tracing(TraceSettings settings, WallClock clock) {
    this.clock = clock;
    this.plan = new AtomicReference<>(new LoopTracer.Plan(settings, null));
  }

  /**
   * The first station of one loop more.
   *
   * @param next the station behind it
   */
  public LoopTracer forLoop(ExchangeHandler next) {
    LoopTracer tracer = new LoopTracer(loops.size() + 1, next, plan, clock);
    loops.add(tracer);
    return tracer;
  }

  /** One for each loop. */
  public List<LoopTracer> loops() {
    return loops;
  }

  /** Goes by these settings from now on. */
  public void settings(TraceSettings settings) {
    plan.updateAndGet(now -> new LoopTracer.Plan(settings, now.order()));
  }

  public TraceSettings settings() {
    return plan.getAcquire().settings();
  }

  /** What somebody wants to see and did not see yet; null if nothing. */
  public @Nullable TraceOrder order() {
    TraceOrder order = plan.getAcquire().order();
    if (order != null && order.leftNanos(clock.nanos()) == 0) {
      plan.updateAndGet(
          now -> now.order() == order ? new LoopTracer.Plan(now.settings(), null) : now);
      return null;
    }
    return order;
  }

  /**
   * Records the next requests of a kind, in place of an order that is open; null for none.
   *
   * @param host as for {@link TraceOrder}
   */
  public void order(@Nullable String host, String path, int count, long forNanos) {
    TraceOrder order = new TraceOrder(host, path, count, clock.nanos() + forNanos);
    plan.updateAndGet(now -> new LoopTracer.Plan(now.settings(), order));
  }

  /** Records no more than the settings say. */
  public void cancelOrder() {
    plan.updateAndGet(now -> new LoopTracer.Plan(now.settings(), null));
  }

  /** What is kept of all loops, in no order. */
  public List<RequestTrace> traces() {
    return loops.stream().flatMap(loop -> loop.after(0).stream()).toList();
  }
}
