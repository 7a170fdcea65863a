package io.kamille.core.trace;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.exchange.Trace;
import io.kamille.core.exchange.Trace.Cause;
import io.kamille.core.http.Fields;
import io.kamille.core.log.RequestSampler;
import io.kamille.core.loop.WallClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The station before all others on one loop: it decides whether an exchange is recorded, and keeps
 * the last ones that were. Written on its loop; read on any thread.
 */
public final class LoopTracer implements ExchangeHandler, ExchangeObserver {

  /*
   * The decision comes before anything is recorded (W3C Trace Context §3.2.2.5.1). A trusted client
   * decides for its requests, as its trace would have a hole else. The trace of any other client
   * ends here and one of ours begins, whose state says nothing of theirs (§3.3.1.2). What is not
   * recorded keeps the fields it came with.
   *
   * A place of the ring is written once and then replaced, so readers see whole traces without a
   * lock. The ring is also the queue of the exporter: it reads what is newer than what it has seen.
   */
  static final int KEPT = 256;

  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  /**
   * What is to be recorded. Immutable; swapped whole.
   *
   * @param order null if nobody wants to see particular requests
   */
  record Plan(TraceSettings settings, @Nullable TraceOrder order) {

    /** Whether nothing is. */
    boolean isIdle() {
      return order == null && !settings.isOn();
    }
  }

  private final int loop;
  private final ExchangeHandler next;
  private final AtomicReference<Plan> plan;
  private final WallClock clock;
  private final AtomicReferenceArray<@Nullable RequestTrace> ring =
      new AtomicReferenceArray<>(KEPT);
  private long windowNanos;
  private int inWindow;
  private final AtomicLong count = new AtomicLong();

  LoopTracer(int loop, ExchangeHandler next, AtomicReference<Plan> plan, WallClock clock) {
    this.loop = loop;
    this.next = next;
    this.plan = plan;
    this.clock = clock;
    this.windowNanos = clock.nanos() - SECOND;
  }

  @Override
  public void handle(Exchange exchange) {
    Plan now = plan.getAcquire();
    if (!now.isIdle()) {
      decide(now, exchange);
    }
    next.handle(exchange);
  }

  private void decide(Plan now, Exchange exchange) {
    Fields fields = exchange.request().fields();
    boolean isTrusted = now.settings().trust().contains(exchange.peer().getAddress());
    TraceContext parent = isTrusted ? TraceContext.of(fields) : null;
    Cause cause = cause(now, exchange, parent);
    if (cause == null) {
      return;
    }
    String span = randomId();
    Trace.Ids ids =
        parent == null
            ? new Trace.Ids(randomId() + randomId(), "", span, randomId())
            : new Trace.Ids(parent.trace(), parent.span(), span, randomId());
    if (parent == null) {
      fields.remove(TraceContext.STATE);
    }
    fields.remove(TraceContext.PARENT);
    fields.add(TraceContext.PARENT, new TraceContext(ids.trace(), ids.origin(), true).text());
    exchange.notes().trace(new Trace(ids, cause, clock::nanos));
  }

  private @Nullable Cause cause(Plan now, Exchange exchange, @Nullable TraceContext parent) {
    long nanos = clock.nanos();
    TraceOrder order = now.order();
    if (order != null) {
      if (order.takes(exchange.request(), nanos)) {
        return Cause.ASKED;
      }
      if (order.leftNanos(nanos) == 0) {
        plan.compareAndSet(now, new Plan(now.settings(), null));
      }
    }
    if (parent != null) {
      return parent.isSampled() && hasRoom(now.settings(), nanos) ? Cause.PARENT : null;
    }
    double ratio = now.settings().ratio();
    boolean isChosen = ratio > 0 && ThreadLocalRandom.current().nextDouble() < ratio;
    return isChosen && hasRoom(now.settings(), nanos) ? Cause.RATIO : null;
  }

  private boolean hasRoom(TraceSettings settings, long nanos) {
    if (nanos - windowNanos >= SECOND) {
      windowNanos = nanos;
      inWindow = 0;
    }
    return inWindow++ < settings.perSecond();
  }

  /** Eight random octets, not all of them zero. */
  private static String randomId() {
    return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE));
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    Trace trace = exchange.notes().trace();
    if (trace == null) {
      return;
    }
    long number = count.getPlain() + 1;
    ring.setRelease(
        (int) (number % KEPT),
        new RequestTrace(
            RequestSampler.sample(
                exchange,
                status,
                contentBytes,
                endNanos - startNanos,
                loop,
                number,
                clock.epochMillis()),
            trace.ids(),
            trace.cause(),
            startNanos,
            trace.marks()));
    count.setRelease(number);
  }

  /** The number of the last trace: it and all before it have been in the ring. Any thread. */
  public long newest() {
    return count.getAcquire();
  }

  /** The traces of this loop with a greater number than that, in no order. Any thread. */
  public List<RequestTrace> after(long number) {
    List<RequestTrace> traces = new ArrayList<>();
    for (int i = 0; i < KEPT; i++) {
      RequestTrace trace = ring.getAcquire(i);
      if (trace != null && trace.request().number() > number) {
        traces.add(trace);
      }
    }
    return traces;
  }
}
