package io.kamille.cache.station;

import io.kamille.cache.decision.ForwardWay;
import io.kamille.cache.fill.Fetches;
import io.kamille.cache.fill.Follower;
import io.kamille.cache.fill.InFlight;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.fill.Wait;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReusePlan.Serve;
import io.kamille.cache.rules.ReusePlanner;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.LoopState;
import io.kamille.cache.serve.LoopStates;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import org.jspecify.annotations.Nullable;

/**
 * The way of requests that the store alone cannot answer: alone toward the origin, first of those
 * for a key, or behind the first (RFC 9111 §4). Any loop.
 */
final class MissPath implements Follower.Onward {

  /** Asks the cache again for a request that has waited. */
  @FunctionalInterface
  interface Again {

    /** Called on the request's loop. */
    void handle(Exchange exchange, Wait wait);
  }

  private final TieredStore store;
  private final InFlightTable flights;
  private final Fetches fetches;
  private final StoredAnswers answers;
  private final OriginGate gate;
  private final CacheStatus cacheStatus;
  private final LoopStates loops;
  private final CacheSettings settings;
  private final WallClock clock;
  private final Again again;

  MissPath(
      TieredStore store,
      InFlightTable flights,
      Fetches fetches,
      StoredAnswers answers,
      OriginGate gate,
      CacheStatus cacheStatus,
      LoopStates loops,
      CacheSettings settings,
      WallClock clock,
      Again again) {
    this.store = store;
    this.flights = flights;
    this.fetches = fetches;
    this.answers = answers;
    this.gate = gate;
    this.cacheStatus = cacheStatus;
    this.loops = loops;
    this.settings = settings;
    this.clock = clock;
    this.again = again;
  }

  /**
   * Asks the origin about a stored response, of which it takes over one lease.
   *
   * @param key borrowed
   */
  void validate(
      Exchange exchange, CacheKey key, ForwardReason reason, StoredResponse stored, Wait wait) {
    exchange.notes().mark(TraceStep.DECISION, reason.token());
    if (isFirst(wait) && gate.isRefused(exchange, stored)) {
      return;
    }
    ForwardWay way =
        ForwardWay.ofValidation(exchange.request(), reason, stored.facts(), mayWait(wait));
    if (way == ForwardWay.COLLAPSE) {
      leadOrFollow(exchange, key, reason, stored, true, wait);
    } else {
      fetches.validate(exchange, key.copy(), new Forwarding(reason), null, stored);
    }
  }

  /**
   * Asks the origin for the response.
   *
   * @param key borrowed
   * @param stale what is stored and cannot be validated, or null; takes over one lease
   */
  void forward(
      Exchange exchange,
      CacheKey key,
      ForwardReason reason,
      @Nullable StoredResponse stale,
      Wait wait) {
    exchange.notes().mark(TraceStep.DECISION, reason.token());
    if (isFirst(wait) && gate.isRefused(exchange, stale)) {
      return;
    }
    RequestHead request = exchange.request();
    switch (ForwardWay.of(request, key, reason, stale != null, mayWait(wait), flights)) {
      case PASS_FOR_ORIGIN -> {
        StoredAnswers.release(stale);
        if (ForwardWay.fillsAround(request, settings.background())) {
          fetches.fillInBackground(exchange, key.copy());
        }
        fetches.pass(exchange, new Forwarding(reason));
      }
      case PASS_UNSTORABLE -> {
        StoredAnswers.release(stale);
        fetches.pass(exchange, new Forwarding(reason).detail(Storability.of(request).detail()));
      }
      case PERHAPS -> {
        StoredAnswers.release(stale);
        fetches.fillPerhaps(exchange, key.copy(), new Forwarding(reason));
      }
      case COLLAPSE -> leadOrFollow(exchange, key, reason, stale, false, wait);
      case FRESHEN, ALONE ->
          fetches.fill(exchange, key.copy(), new Forwarding(reason), null, stale);
    }
  }

  private boolean mayWait(Wait wait) {
    return settings.mayCollapse() && wait != Wait.Over.OVER;
  }

  private static boolean isFirst(Wait wait) {
    return wait == Wait.NotBegun.NOT_BEGUN;
  }

  /** Collapses the request with those for the same key. Takes over one lease on {@code stored}. */
  private void leadOrFollow(
      Exchange exchange,
      CacheKey key,
      ForwardReason reason,
      @Nullable StoredResponse stored,
      boolean isValidation,
      Wait wait) {
    while (true) {
      InFlight flight = flights.find(key, exchange.request());
      if (flight == null) {
        CacheKey own = key.copy();
        InFlight begun = flights.begin(own, exchange.loop());
        if (begun != null) {
          lead(exchange, own, begun, reason, stored, isValidation);
          return;
        }
      } else if (Follower.follow(exchange, flight, reason, cacheStatus, this, standing(wait))) {
        StoredAnswers.release(stored);
        exchange.notes().mark(TraceStep.COLLAPSE, "waits for another request");
        if (isFirst(wait)) {
          loops.current().counters().collapsed();
        }
        return;
      }
    }
  }

  /** The wait given, or a new one if that is over or has not begun. */
  private Wait standing(Wait given) {
    long now = clock.nanos();
    boolean isStanding =
        switch (given) {
          case Wait.ToTheEnd.TO_THE_END -> true;
          case Wait.Until(var deadlineNanos) -> deadlineNanos - now > 0;
          case Wait.NotBegun.NOT_BEGUN, Wait.Over.OVER -> false;
        };
    return isStanding ? given : new Wait.Until(now + settings.collapseWaitTimeout().toNanos());
  }

  /** Forwards the request, unless the one before it has just brought what it wants. */
  private void lead(
      Exchange exchange,
      CacheKey key,
      InFlight flight,
      ForwardReason reason,
      @Nullable StoredResponse stored,
      boolean isValidation) {
    exchange.notes().mark(TraceStep.COLLAPSE, "leads");
    long now = clock.epochSeconds();
    StoredResponse newer = StoredAnswers.selected(store.peek(key), exchange.request(), now);
    if (newer != null
        && newer != stored
        && ReusePlanner.plan(exchange.request(), newer.facts(), now) == Serve.SERVE) {
      StoredAnswers.release(stored);
      flight.freshened();
      answers.serve(exchange, loops.current(), key, newer, now);
      return;
    }
    StoredAnswers.release(newer);
    Forwarding forwarding = new Forwarding(reason);
    if (isValidation && stored != null) {
      fetches.validate(exchange, key, forwarding, flight, stored);
    } else {
      fetches.fill(exchange, key, forwarding, flight, stored);
    }
  }

  // Where followers go that were not helped

  @Override
  public void again(Exchange exchange, Wait wait) {
    again.handle(exchange, wait);
  }

  @Override
  public void brokenOffSlow() {
    loops.current().counters().brokenOffSlow();
  }

  @Override
  public void failed(Exchange exchange, Forwarding forwarding, Failure why) {
    LoopState loop = loops.current();
    RequestHead request = exchange.request();
    long now = clock.epochSeconds();
    CacheKey key = loop.probe().keyOf(request);
    StoredResponse stored = StoredAnswers.selected(store.peek(key), request, now);
    if (stored != null && StoredAnswers.mayServeOnError(request, stored, now)) {
      forwarding.detail("stale-if-error").ttl(stored.facts().ttlSeconds(now));
      answers.serveOnError(exchange, loop, stored, now, forwarding);
    } else {
      StoredAnswers.release(stored);
      exchange.notes().cacheStatus(cacheStatus.member(forwarding));
      exchange.reply().fail(why);
    }
  }
}
