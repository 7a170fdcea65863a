package io.kamille.cache.station;

import io.kamille.cache.decision.ForwardWay;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.LoopState;
import io.kamille.cache.serve.LoopStates;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.loop.WallClock;
import org.jspecify.annotations.Nullable;

/**
 * The gate of a route before the origin: where it refuses a request, a stored response may stand in
 * for the error. Any loop.
 */
final class OriginGate {

  private final RouteGate gate;
  private final StoredAnswers answers;
  private final CacheStatus cacheStatus;
  private final LoopStates loops;
  private final WallClock clock;

  OriginGate(
      RouteGate gate,
      StoredAnswers answers,
      CacheStatus cacheStatus,
      LoopStates loops,
      WallClock clock) {
    this.gate = gate;
    this.answers = answers;
    this.cacheStatus = cacheStatus;
    this.loops = loops;
    this.clock = clock;
  }

  /** Whether the request may not be forwarded; then it has its answer. */
  boolean isRefused(Exchange exchange) {
    return isRefused(exchange, null);
  }

  /**
   * The same.
   *
   * @param stale what may be the answer in place of an error, or null; if the request is refused,
   *     takes over one lease
   */
  boolean isRefused(Exchange exchange, @Nullable StoredResponse stale) {
    Failure refusal = gate.refusal(exchange);
    if (refusal == null) {
      return false;
    }
    long now = clock.epochSeconds();
    if (stale != null
        && StoredFacts.isError(refusal.status())
        && !ForwardWay.isForOrigin(exchange.request())
        && StoredAnswers.mayServeOnError(exchange.request(), stale, now)) {
      LoopState loop = loops.current();
      loop.counters().hit(stale.facts().isFresh(now));
      Forwarding told = Forwarding.inPlaceOfError(stale.facts().ttlSeconds(now));
      answers.serveOnError(exchange, loop, stale, now, cacheStatus.keyed(told, exchange.request()));
    } else {
      StoredAnswers.release(stale);
      exchange.reply().fail(refusal);
    }
    return true;
  }
}
