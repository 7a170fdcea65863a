package io.kamille.cache.station;

import io.kamille.cache.fill.Fetches;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReusePlan.Forward;
import io.kamille.cache.rules.ReusePlanner;
import io.kamille.cache.serve.Forwarding;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;

/**
 * The way of requests that pass the cache by; as a handler, of all requests for a path. Any loop.
 */
public final class CacheBypass implements ExchangeHandler {

  private final Fetches fetches;
  private final OriginGate gate;
  private final StoredAnswers answers;
  private final String why;

  /**
   * Passes by.
   *
   * @param why in one word, for {@code Cache-Status}
   */
  CacheBypass(Fetches fetches, OriginGate gate, StoredAnswers answers, String why) {
    this.fetches = fetches;
    this.gate = gate;
    this.answers = answers;
    this.why = why;
  }

  @Override
  public void handle(Exchange exchange) {
    ForwardReason reason = reason(exchange.request());
    Forwarding forwarding = new Forwarding(reason);
    pass(exchange, reason == ForwardReason.BYPASS ? forwarding.detail(why) : forwarding);
  }

  /** Why this request is forwarded; any thread. */
  public ForwardReason reason(RequestHead request) {
    Forward usual = ReusePlanner.bypass(request);
    return usual == null ? ForwardReason.BYPASS : usual.reason();
  }

  /** Forwards a request that the cache has no say in, unless its client takes only what it has. */
  void passBy(Exchange exchange, Forwarding forwarding) {
    if (ReusePlanner.isOnlyForCache(exchange.request())) {
      answers.refuse(exchange);
    } else {
      pass(exchange, forwarding);
    }
  }

  private void pass(Exchange exchange, Forwarding forwarding) {
    if (gate.isRefused(exchange)) {
      return;
    }
    if (exchange.request().method().isSafe()) {
      fetches.pass(exchange, forwarding);
    } else {
      fetches.passUnsafe(exchange, forwarding);
    }
  }
}
