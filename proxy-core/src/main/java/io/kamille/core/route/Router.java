package io.kamille.core.route;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Hands each exchange to the handler of its most specific route. Any thread.
 *
 * <p>A host that no route names is answered with {@code 421 (Misdirected Request)}, as RFC 9110
 * §7.4 asks of a server that does not answer for the target URI; a known host without a route for
 * the path with {@code 404 (Not Found)}.
 */
public final class Router implements ExchangeHandler {

  private final AtomicReference<RouteTable> table;

  public Router(RouteTable table) {
    this.table = new AtomicReference<>(table);
  }

  /** Routes by another table from the next exchange on. */
  public void swap(RouteTable table) {
    this.table.setRelease(table);
  }

  /** The table that the next exchange is routed by. */
  public RouteTable table() {
    return table.getAcquire();
  }

  @Override
  public void handle(Exchange exchange) {
    RouteTable routes = table.getAcquire();
    Route route = routes.find(exchange.request());
    if (route == null) {
      exchange.reply().fail(noRoute(routes, exchange.request()));
      return;
    }
    exchange.request().partition(route.partition());
    exchange.notes().route(route.name());
    exchange.notes().mark(TraceStep.ROUTE, route.name());
    route.handler().handle(exchange);
  }

  private static Failure noRoute(RouteTable routes, RequestHead request) {
    return routes.knowsHost(request)
        ? Failure.request(StatusCode.NOT_FOUND, "no route for this path")
        : Failure.request(StatusCode.MISDIRECTED_REQUEST, "no route for this host");
  }
}
