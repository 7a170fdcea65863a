package io.kamille.cache.station;

import io.kamille.cache.decision.CacheDecision.Ask;
import io.kamille.cache.fill.CacheRoute;
import io.kamille.cache.fill.Fetches;
import io.kamille.cache.fill.Follower;
import io.kamille.cache.fill.InFlight;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.fill.StoredAnswers;
import io.kamille.cache.fill.Wait;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ReusePlan.Answer;
import io.kamille.cache.rules.ReusePlanner;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.RequestHead;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of requests that the store alone cannot answer: alone toward the origin, first of those
 * for a key, or behind the first (RFC 9111 §4). Any loop.
 */
final class MissPath implements Follower.Unserved {

  private final CacheRoute route;
  private final Fetches fetches;
  private final InFlightTable flights;
  private final BiConsumer<Exchange, Wait> again;

  /**
   * The way of one route's requests.
   *
   * @param again asks the cache again for a request that has waited, on its loop
   */
  MissPath(CacheRoute route, Fetches fetches, BiConsumer<Exchange, Wait> again) {
    this.route = route;
    this.fetches = fetches;
    this.flights = route.parts().flights();
    this.again = again;
  }

  /**
   * Asks the origin.
   *
   * @param demands the request's directives
   * @param key borrowed
   * @param stored what is asked about, or may serve in place of an error; or null. Takes over one
   *     lease
   */
  void ask(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      Ask ask,
      @Nullable StoredResponse stored,
      Wait wait) {
    switch (ask.way()) {
      case PERHAPS -> {
        StoredAnswers.release(stored);
        fetches.fetchPerhaps(exchange, demands, key.copy(), ask.reason());
      }
      case COLLAPSE -> leadOrFollow(exchange, demands, key, ask, stored, wait);
      case FRESHEN, ALONE -> fetch(exchange, demands, key.copy(), ask, null, stored);
    }
  }

  private void fetch(
      Exchange exchange,
      CacheControl demands,
      CacheKey own,
      Ask ask,
      @Nullable InFlight flight,
      @Nullable StoredResponse stored) {
    fetches.fetch(exchange, demands, own, ask.reason(), flight, stored, ask.isValidation());
  }

  /** Collapses the request with those for the same key. Takes over one lease on {@code stored}. */
  private void leadOrFollow(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      Ask ask,
      @Nullable StoredResponse stored,
      Wait wait) {
    while (true) {
      InFlight flight = flights.find(key, exchange.request());
      if (flight == null) {
        CacheKey own = key.copy();
        InFlight begun = flights.begin(own, exchange.loop());
        if (begun != null) {
          lead(exchange, demands, own, begun, ask, stored);
          return;
        }
      } else if (Follower.follow(
          exchange, flight, ask.reason(), route.cacheStatus(), this, going(wait))) {
        StoredAnswers.release(stored);
        exchange.notes().mark(TraceStep.COLLAPSE, "waits for another request");
        if (!wait.isBegun()) {
          route.counters().collapsed();
        }
        return;
      }
    }
  }

  private Wait going(Wait wait) {
    long lengthNanos = route.settings().collapseWaitTimeout().toNanos();
    return wait.going(route.parts().clock().nanos(), lengthNanos);
  }

  /** Forwards the request, unless the one before it has just brought what it wants. */
  private void lead(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      InFlight flight,
      Ask ask,
      @Nullable StoredResponse stored) {
    exchange.notes().mark(TraceStep.COLLAPSE, "leads");
    long now = route.parts().clock().epochSeconds();
    RequestHead request = exchange.request();
    StoredResponse newer = StoredAnswers.selected(route.parts().store().peek(key), request, now);
    if (newer != null
        && newer != stored
        && ReusePlanner.plan(request, demands, newer.facts(), now) == Answer.SERVE) {
      StoredAnswers.release(stored);
      flight.freshened();
      route.answers().serve(exchange, route.parts().loops().current(), key, newer, false, now);
      return;
    }
    StoredAnswers.release(newer);
    fetch(exchange, demands, key, ask, flight, stored);
  }

  // Followers that were not served

  @Override
  public void lookAgain(Exchange exchange, Wait wait) {
    again.accept(exchange, wait);
  }

  @Override
  public void failed(Exchange exchange, Forwarding forwarding, Failure why) {
    RequestHead request = exchange.request();
    CacheKey key = route.parts().loops().current().probe().keyOf(request);
    long now = route.parts().clock().epochSeconds();
    StoredResponse stored = StoredAnswers.selected(route.parts().store().peek(key), request, now);
    CacheControl demands = CacheControl.ofRequest(request.fields());
    route.answers().fail(exchange, demands, stored, forwarding, why);
  }

  @Override
  public void brokenOffSlow() {
    route.counters().brokenOffSlow();
  }
}
