package io.kamille.core.exchange;

/** Learns of every exchange when it is over: access log and metrics. Called on its loop. */
@FunctionalInterface
public interface ExchangeObserver {

  /** An observer that tells both, this one first. */
  default ExchangeObserver and(ExchangeObserver second) {
    return (exchange, status, contentBytes, startNanos, endNanos) -> {
      ended(exchange, status, contentBytes, startNanos, endNanos);
      second.ended(exchange, status, contentBytes, startNanos, endNanos);
    };
  }

  /**
   * The reply has ended. Borrows the exchange until it returns.
   *
   * @param status the status code sent, 0 if the client left before an answer began
   * @param contentBytes octets of content given to the connection, without framing
   * @param startNanos when the request head was complete (monotonic)
   * @param endNanos when the last octet was handed to the connection (monotonic)
   */
  void ended(Exchange exchange, int status, long contentBytes, long startNanos, long endNanos);
}
