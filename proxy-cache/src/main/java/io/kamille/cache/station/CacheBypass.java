package io.kamille.cache.station;

import io.kamille.cache.fill.CacheRoute;
import io.kamille.cache.fill.Fetches;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReuseRule;
import io.kamille.cache.serve.Forwarding;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;

/**
 * The way of requests that pass the cache by; as a handler, of all requests for a path. Any loop.
 */
public final class CacheBypass implements ExchangeHandler {

  private final CacheRoute route;
  private final Fetches fetches;
  private final String why;

  /**
   * Passes by.
   *
   * @param why in one word, for {@code Cache-Status}
   */
  CacheBypass(CacheRoute route, Fetches fetches, String why) {
    this.route = route;
    this.fetches = fetches;
    this.why = why;
  }

  @Override
  public void handle(Exchange exchange) {
    pass(exchange, forwarding(exchange.request(), why));
  }

  /** Why this request is forwarded; any thread. */
  public static ForwardReason reason(RequestHead request) {
    ReuseRule rule = ReuseRule.ofBypass(request);
    return rule == null ? ForwardReason.BYPASS : rule.forward(false);
  }

  /**
   * What {@code Cache-Status} tells of this request; any thread.
   *
   * @param why in one word, unless the request itself says why
   */
  public static Forwarding forwarding(RequestHead request, String why) {
    ForwardReason reason = reason(request);
    Forwarding told = new Forwarding(reason);
    return reason == ForwardReason.BYPASS ? told.detail(why) : told;
  }

  /** Forwards a request that the cache has no say in. */
  void pass(Exchange exchange, Forwarding forwarding) {
    if (route.turnAway(exchange, CacheControl.NONE, null)) {
      return;
    }
    if (exchange.request().method().isSafe()) {
      fetches.pass(exchange, forwarding);
    } else {
      fetches.passUnsafe(exchange, forwarding);
    }
  }
}
