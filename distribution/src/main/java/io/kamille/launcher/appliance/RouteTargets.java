package io.kamille.launcher.appliance;

import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.core.answer.FileHandler;
import io.kamille.core.answer.FileThreads;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.RequestId;
import io.kamille.core.answer.RuledHandler;
import io.kamille.core.answer.StaticResponse;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.send.MirrorHandler;
import io.kamille.core.origin.send.MirrorSettings;
import io.kamille.launcher.configuration.RouteActions;
import io.kamille.launcher.configuration.RouteSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The stations at the end of routes: upstreams, files, and answers of a route's own. */
final class RouteTargets implements AutoCloseable {

  private final WallClock clock;
  private final FileThreads files = new FileThreads();
  private final LongAdder mirrorDropped = new LongAdder();

  RouteTargets(WallClock clock, MetricRegistry registry) {
    this.clock = clock;
    registry.counting(MirrorHandler.DROPPED, mirrorDropped::sum);
  }

  /** What answers for the route behind the cache. Looks up names that are new: blocks. */
  ExchangeHandler of(RouteSettings route, Upstreams.Next upstreams, ErrorPages pages) {
    return ruled(route, answer(route, route.actions(), upstreams), pages);
  }

  /** What answers the other part of its clients; null if there is none. */
  @Nullable ExchangeHandler ofSplit(
      RouteSettings route, Upstreams.Next upstreams, ErrorPages pages) {
    String other = route.actions().split().upstream();
    return other == null ? null : ruled(route, upstreams.handler(other, route), pages);
  }

  /** What stands in place of errors of the route. Reads files: blocks. */
  static ErrorPages pages(RouteSettings route) {
    try {
      return ErrorPageSettings.pages(route.actions().errorPages());
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable.getMessage(), unreadable);
    }
  }

  /** Refuses nobody, and has errors say what these pages do. */
  static RouteGate gate(ErrorPages pages) {
    return exchange -> {
      if (ErrorPages.suit(exchange.request())) {
        exchange.notes().errorPages(pages);
      }
      return null;
    };
  }

  private static ExchangeHandler ruled(
      RouteSettings route, ExchangeHandler answer, ErrorPages pages) {
    RouteActions actions = route.actions();
    HeaderRules response =
        actions.requestId()
            ? RequestId.ofStored(actions.responseHeaders())
            : actions.responseHeaders();
    boolean isPlain =
        actions.requestHeaders().isEmpty()
            && response.isEmpty()
            && actions.pathRewrite() == null
            && !pages.intercept();
    return isPlain
        ? answer
        : new RuledHandler(
            answer, actions.requestHeaders(), response, route.path(), actions.pathRewrite(), pages);
  }

  private ExchangeHandler answer(
      RouteSettings route, RouteActions actions, Upstreams.Next upstreams) {
    if (route.upstream() != null) {
      MirrorSettings mirror = actions.mirror();
      ExchangeHandler first = upstreams.handler(route);
      return mirror.upstream() == null
          ? first
          : new MirrorHandler(
              first, upstreams.handler(mirror.upstream(), route), mirror.share(), mirrorDropped);
    }
    if (actions.redirect().isOn()) {
      return actions.redirect();
    }
    if (actions.respond().isOn()) {
      return new StaticResponse(actions.respond(), body(actions));
    }
    return new FileHandler(Objects.requireNonNull(actions.root(), "root"), files, clock);
  }

  private static byte[] body(RouteActions actions) {
    try {
      return actions.respond().content();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable.getMessage(), unreadable);
    }
  }

  /** What the API calls the end of the route. */
  static String name(RouteSettings route) {
    RouteActions actions = route.actions();
    if (route.upstream() != null) {
      return route.upstream();
    }
    if (actions.redirect().isOn()) {
      return "redirect";
    }
    return actions.respond().isOn() ? "respond" : "root";
  }

  @Override
  public void close() {
    files.close();
  }
}
