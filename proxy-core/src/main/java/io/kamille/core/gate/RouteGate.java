package io.kamille.core.gate;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import org.jspecify.annotations.Nullable;

/** Whether a request goes on. It changes nothing of it. Any loop. */
@FunctionalInterface
public interface RouteGate {

  /** Lets everything pass. */
  RouteGate OPEN = exchange -> null;

  /** Why the request goes no further; null if it may go on. */
  @Nullable Failure refusal(Exchange exchange);

  /** A gate that lets pass what both do; {@code second} is asked only about what this one does. */
  default RouteGate and(RouteGate second) {
    return exchange -> {
      Failure refusal = refusal(exchange);
      return refusal == null ? second.refusal(exchange) : refusal;
    };
  }

  /** A station that hands {@code next} what this lets pass, and fails the rest. */
  default ExchangeHandler before(ExchangeHandler next) {
    return exchange -> {
      Failure refusal = refusal(exchange);
      if (refusal == null) {
        next.handle(exchange);
      } else {
        exchange.notes().refused();
        exchange.reply().fail(refusal);
      }
    };
  }

  /** A gate for these clients. */
  static RouteGate of(AccessList access) {
    Failure denied =
        Failure.of(Failure.ErrorType.HTTP_REQUEST_DENIED, "this client is not let in here");
    return exchange -> access.admits(exchange.client().getAddress()) ? null : denied;
  }
}
