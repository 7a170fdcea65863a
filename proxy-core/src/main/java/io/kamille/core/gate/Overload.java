package io.kamille.core.gate;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the loops shed while they are late. As a gate it is asked about requests that would be
 * forwarded. Any thread.
 */
public final class Overload implements RouteGate {

  /** What a shed request fails with; which Retry-After it is answered with is chance. */
  public static final Failure SHED =
      new Failure(
          ErrorType.PROXY_INTERNAL_RESPONSE,
          503,
          "too busy for this request now",
          Shedder.MOST_RETRY_AFTER_SECONDS);

  private final List<Loop> loops = new CopyOnWriteArrayList<>();
  private final LongAdder shedAtOnce = new LongAdder();
  private final LongAdder shedForwards = new LongAdder();
  private final OverloadLaw.Start laws;
  private volatile long targetNanos;

  private record Loop(EventLoop loop, Shedder shedder) {}

  /**
   * For loops still to come.
   *
   * @param targetNanos how late they may be; 0 to shed nothing
   * @param laws what each loop goes by
   */
  public Overload(long targetNanos, OverloadLaw.Start laws) {
    this.targetNanos = targetNanos;
    this.laws = laws;
  }

  /**
   * What one loop sheds. Called once for each, before it serves.
   *
   * @param polls the loop's count; asked on the loop
   */
  public Shedder shedder(EventLoop loop, LongSupplier polls) {
    Shedder shedder = new Shedder(polls, targetNanos, laws, shedAtOnce, shedForwards);
    loops.add(new Loop(loop, shedder));
    return shedder;
  }

  /** How late loops may be from now on, in nanoseconds; 0 to shed nothing. */
  public void target(long nanos) {
    targetNanos = nanos;
    loops.forEach(loop -> loop.shedder().target(nanos));
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // a loop is itself
  public @Nullable Failure refusal(Exchange exchange) {
    for (int i = 0; i < loops.size(); i++) {
      Loop loop = loops.get(i);
      if (loop.loop() == exchange.loop()) {
        return loop.shedder().shedsForward() ? SHED : null;
      }
    }
    return null;
  }

  /** What each loop shed lately, in the order in which they came ({@link Shedder#share}). */
  public List<Double> shares() {
    return loops.stream().map(loop -> loop.shedder().share()).toList();
  }

  /** Requests shed before anybody looked whether they are stored. */
  public long shedAtOnce() {
    return shedAtOnce.sum();
  }

  /** Requests shed because they would have been forwarded. */
  public long shedForwards() {
    return shedForwards.sum();
  }
}
