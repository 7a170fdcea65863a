package io.kamille.launcher.chain;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.gate.RouteGate;

/**
 * A station of a route: what it does with requests, and what it would do with one, and why. Both
 * stand in one class, so that explanations and tests in the configuration say what happens.
 * Immutable; any thread.
 */
interface Station {

  /** What it is called in the chain of a route. */
  String describe();

  /** The handler that requests come to. Whoever links may block: it may read a file. */
  ExchangeHandler before(ExchangeHandler next, Link link);

  /** What it would do with a request, and why. */
  void judge(Passage passage);

  /** What it would do with the response that comes back; empty if it lets it pass as it is. */
  void judgeResponse(Passage passage);

  /** A station that lets requests pass, or refuses them. The cache asks those behind it itself. */
  interface Gate extends Station {

    RouteGate gate(Link link);

    @Override
    default ExchangeHandler before(ExchangeHandler next, Link link) {
      return gate(link).before(next);
    }
  }
}
