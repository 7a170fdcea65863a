package io.kamille.core.loop;

import io.kamille.core.loop.LoopMeter.Reading;
import io.kamille.core.loop.Pacing.Mode;
import io.kamille.core.metric.AnswerCounts;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Leaves a least interval between two polls of another handler, and may poll without sleeping for a
 * while before it lets that handler block. Confined to its loop, but for {@code wakeup}.
 */
final class PacedIoHandler implements IoHandler {

  /*
   * One turn of the loop is one call of run and the tasks that the loop executes after it:
   *
   *   poll returns ─ events ─ tasks ─ run: ─ pause for the rest of the interval ─ poll ..
   *   └──────────── turn ───────────┘ └─────────────── no turn ───────────────┘
   *   └──────────────────── interval, at least ─────────────────────────┘
   *
   * A pause ends early for a task, a timer or a shutdown; what is left of the interval is paused
   * for afterwards. No pause begins while a task waits. When the interval is over and nothing is
   * ready, the poll blocks, so that an idle loop sleeps in the kernel and its next event is not
   * delayed.
   *
   * Without an interval and a busy wait, nothing is timed, WakeState stays IN_DELEGATE, and every
   * call goes through: a loop costs what it would cost without this class, but for two counters. An
   * adaptive loop without an interval looks at the clock once in 32 polls, too.
   *
   * A socket that was registered in a turn (accepted, or dialled to an origin) often has something
   * to read already. An adaptive loop then polls once without a pause, so that a new connection
   * waits for one interval and not for two.
   */
  private final IoHandler delegate;
  private final LoopControl control;
  private final LoopClock clock;
  private final LoopMeter meter;
  private final LoadWindow window;
  private final WakeState state = new WakeState();
  private final TurnPacer pacer = new TurnPacer();
  private final PaceController controller;
  private final SpinBudget spin = new SpinBudget();
  private final PollContext context = new PollContext();

  // Written before the state first leaves RUNNING, so whoever sees PAUSED sees it too.
  private @Nullable Thread thread;
  private @Nullable PaceSettings settings;
  private boolean isAdaptive;
  private boolean isPlain = true;
  private boolean isStopping;

  // Of the turn that goes on
  private boolean isInTurn;
  private long turnStartNanos;

  private boolean hasRegistered;
  private boolean wasExempt;

  /**
   * Paces {@code delegate}.
   *
   * @param cpuNanos processor time of the calling thread so far
   * @param answers counts those of this loop so far; which counts do may change
   * @param controller chooses the interval if that is adaptive
   */
  PacedIoHandler(
      IoHandler delegate,
      LoopControl control,
      LoopClock clock,
      LongSupplier cpuNanos,
      Supplier<AnswerCounts> answers,
      PaceController controller,
      LoopMeter meter) {
    this.delegate = delegate;
    this.control = control;
    this.clock = clock;
    this.meter = meter;
    window = new LoadWindow(cpuNanos, answers);
    this.controller = controller;
  }

  LoopMeter meter() {
    return meter;
  }

  @Override
  public void initialize() {
    thread = Thread.currentThread();
    delegate.initialize();
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // settings are replaced, never changed
  public int run(IoHandlerContext outer) {
    PaceSettings wanted = control.settings();
    if (wanted != settings) {
      apply(wanted);
    }
    if (!isPlain) {
      long now = clock.nanos();
      endTurn(now);
      if (!isPlain) {
        return pollPaced(outer, now);
      }
    }
    return pollPlainly(outer);
  }

  private void apply(PaceSettings next) {
    settings = next;
    isAdaptive = next.mode() == Mode.ADAPTIVE;
    controller.reset();
    spin.limit(next.spin().toNanos());
    meter.forgetLoad();
    isPlain = true;
    forgetTurn();
    state.delegating();
    pace();
    if (isAdaptive || !isPlain) {
      window.restart(clock.nanos());
    }
  }

  /** The interval that is wanted now holds from now on. Begins or ends to time turns for it. */
  private void pace() {
    PaceSettings present = Objects.requireNonNull(settings);
    long interval = 0;
    switch (present.mode()) {
      case OFF -> meter.pace(0, PaceReason.OFF);
      case FIXED -> {
        interval = present.intervalNanos();
        meter.pace(interval, PaceReason.FIXED);
      }
      case ADAPTIVE -> {
        interval = controller.intervalNanos();
        meter.pace(interval, controller.reason());
      }
    }
    pacer.interval(interval);
    meter.set(Reading.SPIN_BUDGET_NANOS, spin.nanos());
    boolean wasPlain = isPlain;
    isPlain = isStopping || (interval == 0 && present.spin().isZero());
    if (isPlain != wasPlain) {
      forgetTurn();
      if (isPlain) {
        state.delegating();
      } else {
        clock.beExact();
        state.running();
      }
    }
  }

  private void forgetTurn() {
    isInTurn = false;
    meter.turnEnds();
  }

  // Without pacing

  private int pollPlainly(IoHandlerContext outer) {
    meter.turnEnds();
    int events = delegate.run(context.over(outer, true));
    meter.turnBegins();
    meter.add(Reading.POLLS, 1);
    meter.add(Reading.EVENTS, events);
    if (isAdaptive) {
      watch(events);
    }
    return events;
  }

  /** Counts, and looks at the clock now and then. */
  private void watch(int events) {
    window.polled(events);
    if (window.isTimeToLook()) {
      long now = clock.nanos();
      if (window.elapsedNanos(now) >= controller.windowNanos()) {
        judge(window.nextUntimed(now), now);
      }
    }
  }

  private void judge(LoadSample load, long now) {
    if (isAdaptive) {
      controller.window(load, now);
    }
    meter.load(load, controller.judgement());
    pace();
  }

  // With pacing

  private int pollPaced(IoHandlerContext outer, long turnEnd) {
    long now = turnEnd;
    boolean isEarly = pacer.restNanos(now) > 0 && isExempt();
    if (pacer.restNanos(now) > 0 && !isEarly) {
      if (outer.canBlock()) {
        now = pause(outer, now);
      }
      if (pacer.restNanos(now) > 0) {
        beginTurn(now);
        return 0;
      }
    }
    wasExempt = isEarly;
    return poll(outer, now);
  }

  private void beginTurn(long now) {
    isInTurn = true;
    turnStartNanos = now;
    meter.turnBegins();
  }

  private void endTurn(long now) {
    if (!isInTurn) {
      return;
    }
    isInTurn = false;
    meter.turnEnds();
    long took = now - turnStartNanos;
    meter.turnTook(took);
    window.busy(took);
    if (window.elapsedNanos(now) >= Math.max(controller.windowNanos(), 4 * pacer.intervalNanos())) {
      judge(window.next(now), now);
    }
  }

  /** Whether the next poll need not wait: once after a socket was registered. */
  private boolean isExempt() {
    return isAdaptive && hasRegistered && !wasExempt;
  }

  private long pause(IoHandlerContext outer, long begin) {
    long nanos = Math.min(pacer.restNanos(begin), outer.delayNanos(begin));
    if (nanos <= 0) {
      return begin;
    }
    long end = begin + nanos;
    long now = begin;
    state.pausing();
    while (state.isPaused() && outer.canBlock() && end - now > 0) {
      clock.park(end - now);
      Thread.interrupted(); // an interrupt would make every further park return at once
      now = clock.nanos();
    }
    state.running();
    if (end - now <= 0) {
      controller.late(now - end);
    }
    meter.add(Reading.PAUSES, 1);
    meter.add(Reading.PAUSE_NANOS, now - begin);
    return now;
  }

  private int poll(IoHandlerContext outer, long begin) {
    hasRegistered = false;
    boolean mayBlock = outer.canBlock();
    int events = maySpin(mayBlock) ? spin(outer, begin) : 0;
    if (events == 0) {
      events = pollOnce(outer, true);
    }
    window.polled(events);
    if (mayBlock) {
      spin.waited(pacer.returnNanos() - begin);
    }
    return events;
  }

  private boolean maySpin(boolean mayBlock) {
    return mayBlock
        && pacer.intervalNanos() == 0
        && spin.nanos() > 0
        && control.hasIdleProcessors();
  }

  private int spin(IoHandlerContext outer, long begin) {
    long budget = spin.nanos();
    int events = pollOnce(outer, false);
    while (events == 0 && outer.canBlock() && pacer.returnNanos() - begin < budget) {
      meter.turnEnds();
      clock.letOthersRun();
      events = pollOnce(outer, false);
    }
    meter.add(Reading.SPINS, 1);
    meter.add(Reading.SPIN_NANOS, pacer.returnNanos() - begin);
    if (events > 0 || !outer.canBlock()) {
      meter.add(Reading.PAID_SPINS, 1);
    }
    return events;
  }

  private int pollOnce(IoHandlerContext outer, boolean mayBlock) {
    meter.turnEnds();
    context.over(outer, mayBlock);
    state.delegating();
    int events = delegate.run(context);
    state.running();
    if (!context.hasReturned) {
      pollReturned();
    }
    meter.add(Reading.POLLS, 1);
    meter.add(Reading.EVENTS, events);
    return events;
  }

  private void pollReturned() {
    if (isPlain) {
      meter.turnBegins();
    } else {
      long now = clock.nanos();
      pacer.polled(now);
      beginTurn(now);
    }
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // a thread is itself
  public void wakeup() {
    if (thread == Thread.currentThread()) {
      return;
    }
    switch (state.wake()) {
      case NOTHING -> {}
      case UNPARK -> clock.unpark(Objects.requireNonNull(thread));
      case DELEGATE -> delegate.wakeup();
    }
  }

  @Override
  public void prepareToDestroy() {
    if (!isStopping) {
      isStopping = true;
      apply(control.settings());
    }
    delegate.prepareToDestroy();
  }

  @Override
  public void destroy() {
    delegate.destroy();
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    hasRegistered = true;
    return delegate.register(handle);
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return delegate.isCompatible(handleType);
  }

  /** What the paced handler is told while it polls: whether it may block, and until when. */
  private final class PollContext implements IoHandlerContext {

    /*
     * The handler asks shouldReportActiveIoTime() at one moment only: when its wait is over and
     * before it handles events. That is where a turn begins.
     */
    private @Nullable IoHandlerContext outer;
    private boolean mayBlock;
    private boolean hasReturned;

    /** The context of the next poll, within that of the loop. */
    PollContext over(IoHandlerContext loop, boolean block) {
      outer = loop;
      mayBlock = block;
      hasReturned = false;
      return this;
    }

    private IoHandlerContext outer() {
      return Objects.requireNonNull(outer);
    }

    @Override
    public boolean canBlock() {
      return mayBlock && outer().canBlock();
    }

    @Override
    public long delayNanos(long currentTimeNanos) {
      return outer().delayNanos(currentTimeNanos);
    }

    @Override
    public long deadlineNanos() {
      return outer().deadlineNanos();
    }

    @Override
    public boolean shouldReportActiveIoTime() {
      hasReturned = true;
      pollReturned();
      return false;
    }
  }
}
