package io.kamille.core.client;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.Failure;
import org.jspecify.annotations.Nullable;

/**
 * What the observer is told of an exchange, once, if a request was there to tell of. Used for one
 * exchange after the other. Confined to its loop.
 */
public final class ObservedExchange {

  private final ServerShard shared;
  private @Nullable Exchange exchange;
  private long startNanos;

  /** No exchange yet. */
  public ObservedExchange(ServerShard shared) {
    this.shared = shared;
  }

  /** A request begins; there is no exchange to tell of yet. */
  public void begin() {
    exchange = null;
    startNanos = shared.nowNanos();
  }

  /** The stations will hear of this exchange, and the observer of its end. */
  public void met(Exchange exchange) {
    this.exchange = exchange;
  }

  /** Notes why it failed. */
  public void note(Failure failure) {
    if (exchange != null) {
      exchange.notes().failure(failure);
    }
  }

  /** What was noted so far, if there is an exchange to tell of. */
  public @Nullable ExchangeNotes notes() {
    return exchange == null ? null : exchange.notes();
  }

  /** Tells the observer. */
  public void end(int status, long contentBytes) {
    Exchange ended = exchange;
    if (ended != null) {
      exchange = null;
      shared.observer().ended(ended, status, contentBytes, startNanos, shared.time().exactNanos());
    }
  }
}
