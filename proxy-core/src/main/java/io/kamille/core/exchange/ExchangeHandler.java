package io.kamille.core.exchange;

/** One station on a request's way: answers the exchange or hands it on. Called on its loop. */
@FunctionalInterface
public interface ExchangeHandler {

  /**
   * Sees to it that the exchange's reply is begun and ended, now or later, on the exchange's loop.
   *
   * <p>The exchange and its request head may be used until the reply has ended, and no longer: the
   * connection reuses both when the answer is complete before this call returns.
   */
  void handle(Exchange exchange);
}
