package io.kamille.cluster.peer;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The station behind the cache of a route: what may be stored comes from the node that owns it. Any
 * loop.
 *
 * @param origin the way to the origin
 */
public record PeerStation(Peers peers, ExchangeHandler origin) implements ExchangeHandler {

  @Override
  public void handle(Exchange exchange) {
    Peers.Plan plan = peers.plan(exchange);
    if (plan == null) {
      origin.handle(exchange);
    } else {
      next(exchange, plan, new ArrayDeque<>(plan.links()));
    }
  }

  private void next(Exchange exchange, Peers.Plan plan, Deque<PeerLink> left) {
    PeerLink link = left.poll();
    while (link != null && !link.mayAsk(System.nanoTime())) {
      link = left.poll();
    }
    if (link == null) {
      origin.handle(exchange);
      return;
    }
    Runnable otherwise = () -> next(exchange, plan, left);
    new PeerAttempt(peers, link, exchange, plan, otherwise).start(plan.onlyIfCached());
  }
}
