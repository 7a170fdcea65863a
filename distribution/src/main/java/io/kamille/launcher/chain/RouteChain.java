package io.kamille.launcher.chain;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cluster.peer.Peers;
import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.PoolSettings;
import io.kamille.launcher.chain.Link.Kept;
import io.kamille.launcher.chain.Link.Parts;
import io.kamille.launcher.chain.Link.Ways;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The way of requests through one route: its stations, linked. Immutable; any thread. */
public final class RouteChain implements RouteFacts {

  /*
   * The method PURGE and the router come before each chain (RouteSet). The handlers are made from
   * the list, from its end on. Two stations are more than a link:
   *
   *   split   has all that follows it twice. The second time it ends at the other upstream, passes
   *           the cache by and is not mirrored.
   *   cache   asks the gates behind it itself: if one refuses, it may still serve what is stale.
   *           With a cluster, it asks other nodes before all that follows; their requests begin at
   *           it, since the node that has asked was at the stations before.
   */
  private static final ExchangeHandler NOBODY = exchange -> {};

  private static final Failure NOT_FOR_NODES =
      Failure.of(
          Failure.ErrorType.PROXY_INTERNAL_RESPONSE, "a route with match is for clients alone");

  private static final Failure LOOP =
      Failure.request(
          StatusCode.LOOP_DETECTED, "the request comes back from an origin of this cluster");

  private final RouteSettings route;
  private final Configuration configuration;
  private final Parts parts;
  private final RouteGate rates;
  private final Ways ways;
  private final ErrorPages pages;
  private final List<Station> stations;
  private final @Nullable String bypassPath;
  private final Kept kept;
  private final ExchangeHandler first;

  /**
   * The chain of a route. Reads files, and looks up names that are new: blocks.
   *
   * @param ways to the upstreams of the configuration
   */
  public RouteChain(
      RouteSettings route, Configuration configuration, Parts parts, RouteGate rates, Ways ways) {
    this(route, configuration, parts, rates, ways, pages(route), new Kept(), null);
  }

  private RouteChain(
      RouteSettings route,
      Configuration configuration,
      Parts parts,
      RouteGate rates,
      Ways ways,
      ErrorPages pages,
      Kept kept,
      @Nullable String bypassPath) {
    this.route = route;
    this.configuration = configuration;
    this.parts = parts;
    this.rates = rates;
    this.ways = ways;
    this.pages = pages;
    this.stations = RouteStations.of(route, configuration);
    this.bypassPath = bypassPath;
    this.kept = kept;
    this.first = logged(forked(linked(stations, false)));
  }

  /** The same for requests that pass its cache by because of that path. */
  public RouteChain pastCache(String path) {
    return new RouteChain(route, configuration, parts, rates, ways, pages, kept, path);
  }

  private static ErrorPages pages(RouteSettings route) {
    try {
      return ErrorPageSettings.pages(route.actions().errorPages());
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable.getMessage(), unreadable);
    }
  }

  /** The first station. */
  public ExchangeHandler first() {
    return first;
  }

  /** The cache that its requests are looked for in; null if it has none, or they pass it by. */
  public @Nullable CacheHandler cache() {
    return bypassPath == null ? kept.cache : null;
  }

  // What stations ask when they judge

  @Override
  public RouteSettings route() {
    return route;
  }

  @Override
  public List<Station> stations() {
    return stations;
  }

  @Override
  public @Nullable String bypassPath() {
    return bypassPath;
  }

  @Override
  public Explanation lookUp(RequestHead request) {
    return Objects.requireNonNull(kept.cache, "cache").explain(request);
  }

  @Override
  public QueryRules query() {
    return Objects.requireNonNull(kept.cache, "cache").query();
  }

  @Override
  public @Nullable Reason owner(RequestHead request) {
    Peers peers = parts.peers();
    return peers == null || request.partition() != null
        ? null
        : peers.explain(QueryFilter.filtered(query(), request));
  }

  @Override
  public @Nullable RedirectTable moved() {
    return kept.moved == null ? null : kept.moved.table();
  }

  @Override
  public @Nullable PoolSettings pool() {
    String upstream = route.upstream();
    return upstream == null || configuration.isWelcome(route)
        ? null
        : configuration.upstream(upstream).settings().pool();
  }

  @Override
  public long fileBytes() {
    return configuration.spool().fileBytes();
  }

  // Links

  /** These stations as handlers, from the target on back. */
  private ExchangeHandler linked(List<Station> way, boolean isOther) {
    ExchangeHandler next = NOBODY;
    RouteGate forwards = RouteGate.OPEN;
    for (int i = way.size() - 1; i >= 0; i--) {
      List<Station> behind = way.subList(i + 1, way.size());
      Link link =
          new Link(
              parts,
              rates,
              ways,
              pages,
              kept,
              forwards,
              isOther,
              bypassPath != null,
              () -> linked(behind, true));
      boolean isBehindCache = way.subList(0, i).stream().anyMatch(CacheStation.class::isInstance);
      if (isBehindCache && way.get(i) instanceof Station.Gate gate) {
        forwards = gate.gate(link).and(forwards);
      } else {
        next = way.get(i).before(next, link);
      }
    }
    return next;
  }

  /** The way of clients, beside that of the requests of other nodes, which go to the cache. */
  private ExchangeHandler forked(ExchangeHandler clients) {
    CacheHandler own = kept.cache;
    Peers peers = parts.peers();
    if (peers == null) {
      return clients;
    }
    ExchangeHandler once =
        exchange -> {
          if (peers.isLoop(exchange.request())) {
            exchange.reply().fail(LOOP);
          } else {
            clients.handle(exchange);
          }
        };
    // Nodes never ask for what its clients must show themselves for: one that does knows no better.
    if (own == null || route.auth().isOn()) {
      return once;
    }
    if (route.match().size() > 0) {
      // What another node asks for has not all that decided about the route.
      return exchange -> {
        if (exchange.request().sender() == Sender.CLIENT) {
          once.handle(exchange);
        } else {
          exchange.reply().fail(NOT_FOR_NODES);
        }
      };
    }
    ExchangeHandler stored =
        ErrorPagesStation.showing(pages, bypassPath == null ? own : own.bypass("path"));
    ExchangeHandler past = ErrorPagesStation.showing(pages, own.bypass("behind"));
    return exchange -> {
      switch (exchange.request().sender()) {
        case CLIENT -> once.handle(exchange);
        case PROXY -> stored.handle(exchange);
        case PROXY_PAST_CACHE -> past.handle(exchange);
      }
    };
  }

  private ExchangeHandler logged(ExchangeHandler next) {
    return route.isLogged()
        ? next
        : exchange -> {
          exchange.notes().unlogged();
          next.handle(exchange);
        };
  }
}
