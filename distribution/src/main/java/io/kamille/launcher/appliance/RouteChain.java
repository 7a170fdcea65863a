package io.kamille.launcher.appliance;

import io.kamille.cache.Cache;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.fill.Fetches.Onward;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cluster.peer.PeerStation;
import io.kamille.cluster.peer.Peers;
import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.core.answer.FileHandler;
import io.kamille.core.answer.FileThreads;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.answer.RedirectsFile;
import io.kamille.core.answer.RequestId;
import io.kamille.core.answer.RuledHandler;
import io.kamille.core.auth.AuthSettings;
import io.kamille.core.auth.AuthThreads;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.gate.Overload;
import io.kamille.core.gate.RateLimitSettings.Counts;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.choose.SplitHandler;
import io.kamille.core.origin.send.MirrorHandler;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteActions;
import io.kamille.launcher.configuration.RouteLimits;
import io.kamille.launcher.configuration.RouteSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The way of requests through one route: its stations, in the order in which a request meets them.
 * No other class knows that order. Immutable; any thread.
 */
public final class RouteChain implements ExplainedRoute {

  /*
   * The method PURGE and the router come before each chain (Assembly). The handlers are made from
   * the list, from its end on. Two stations are more than a link:
   *
   *   SPLIT   has all that follows it twice. The second time it ends at the other upstream, passes
   *           the cache by and is not mirrored.
   *   CACHE   asks the gates behind it itself: if one refuses, it may still serve what is stale.
   *           With a cluster, it asks other nodes before all that follows; their requests begin at
   *           it, since the node that has asked was at the stations before.
   */

  /** A kind of station. */
  public enum Station {
    REQUEST_ID,
    ERROR_PAGES,
    SECURITY_HEADERS,
    ACCESS,
    RATE_LIMIT,
    CONTENT_LIMIT,
    AUTH,
    REDIRECTS,
    SPLIT,
    CACHE,
    OVERLOAD,
    RULES,
    MIRROR,
    TARGET
  }

  /**
   * What chains are made of, for as long as the process lives.
   *
   * @param peers null if no other nodes are asked
   * @param name what the cache calls itself
   */
  record Parts(
      Cache cache,
      @Nullable Peers peers,
      String name,
      Overload overload,
      FileThreads files,
      AuthThreads auth,
      LongAdder mirrorDropped,
      WallClock clock) {}

  /**
   * The rate limits of a route, which outlast a reload.
   *
   * @param all asked about all requests
   * @param forwarded asked about those that are forwarded, if the route has a cache
   */
  record Rates(RouteGate all, RouteGate forwarded) {

    RouteGate gate(boolean isBehindCache) {
      return isBehindCache ? forwarded : all;
    }
  }

  private static final Failure TOO_LARGE =
      Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over the limit of the route");

  private static final Failure NOT_FOR_NODES =
      Failure.of(Failure.Kind.PROXY_INTERNAL_RESPONSE, "a route with match is for clients alone");

  private static final Failure LOOP =
      Failure.request(
          StatusCode.LOOP_DETECTED, "the request comes back from an origin of this cluster");

  private final RouteSettings route;
  private final Configuration configuration;
  private final Parts parts;
  private final Rates rates;
  private final Upstreams.Next upstreams;
  private final ErrorPages pages;
  private final List<Station> stations;
  private final boolean isPastCache;
  private @Nullable CacheHandler cache;
  private @Nullable RedirectsFile moved;
  private final ExchangeHandler first;

  /**
   * The chain of a route. Reads files, and looks up names that are new: blocks.
   *
   * @param upstreams those of the configuration
   */
  RouteChain(
      RouteSettings route,
      Configuration configuration,
      Parts parts,
      Rates rates,
      Upstreams.Next upstreams) {
    this(route, configuration, parts, rates, upstreams, pages(route), null);
  }

  private RouteChain(
      RouteSettings route,
      Configuration configuration,
      Parts parts,
      Rates rates,
      Upstreams.Next upstreams,
      ErrorPages pages,
      @Nullable CacheHandler passed) {
    this.route = route;
    this.configuration = configuration;
    this.parts = parts;
    this.rates = rates;
    this.upstreams = upstreams;
    this.pages = pages;
    stations = stations(route);
    isPastCache = passed != null;
    cache = passed;
    first = logged(forked(linked(stations, false)));
  }

  /** The same for requests that pass its cache by because of their path. */
  RouteChain pastCache() {
    return new RouteChain(route, configuration, parts, rates, upstreams, pages, cache);
  }

  private static ErrorPages pages(RouteSettings route) {
    try {
      return ErrorPageSettings.pages(route.actions().errorPages());
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable.getMessage(), unreadable);
    }
  }

  /** The stations of a route, in order. */
  static List<Station> stations(RouteSettings route) {
    RouteActions actions = route.actions();
    RouteLimits limits = route.limits();
    boolean hasRates = !(route.isCached() ? limits.rates(Counts.ALL) : limits.rates()).isEmpty();
    List<Station> stations = new ArrayList<>();
    addIf(actions.requestId(), Station.REQUEST_ID, stations);
    addIf(!actions.errorPages().isEmpty(), Station.ERROR_PAGES, stations);
    addIf(actions.securityHeaders(), Station.SECURITY_HEADERS, stations);
    addIf(!route.access().isOpen(), Station.ACCESS, stations);
    addIf(hasRates, Station.RATE_LIMIT, stations);
    addIf(limits.boundsContent(), Station.CONTENT_LIMIT, stations);
    addIf(route.auth().isOn(), Station.AUTH, stations);
    addIf(actions.redirectsFile() != null, Station.REDIRECTS, stations);
    addIf(!route.isCached(), Station.OVERLOAD, stations);
    addIf(actions.split().upstream() != null, Station.SPLIT, stations);
    addIf(route.isCached(), Station.CACHE, stations);
    addIf(route.isCached(), Station.OVERLOAD, stations);
    addIf(
        route.isCached() && !limits.rates(Counts.FORWARDED).isEmpty(),
        Station.RATE_LIMIT,
        stations);
    addIf(hasRules(actions), Station.RULES, stations);
    addIf(actions.mirror().upstream() != null, Station.MIRROR, stations);
    stations.add(Station.TARGET);
    return List.copyOf(stations);
  }

  private static void addIf(boolean isOn, Station station, List<Station> stations) {
    if (isOn) {
      stations.add(station);
    }
  }

  private static boolean hasRules(RouteActions actions) {
    return !actions.requestHeaders().isEmpty()
        || !actions.responseHeaders().isEmpty()
        || actions.requestId()
        || actions.securityHeaders()
        || actions.pathRewrite() != null
        || actions.errorPages().values().stream().anyMatch(ErrorPageSettings::intercept);
  }

  /** The chain in words, such as {@code access → cache → overload → upstream web}. */
  public static String describe(RouteSettings route) {
    return stations(route).stream()
        .map(station -> describe(station, route))
        .collect(Collectors.joining(" → "));
  }

  private static String describe(Station station, RouteSettings route) {
    return switch (station) {
      case REQUEST_ID -> "request-id";
      case ERROR_PAGES -> "error-pages";
      case ACCESS -> "access";
      case RATE_LIMIT -> "rate-limit";
      case SECURITY_HEADERS -> "security-headers";
      case CONTENT_LIMIT -> "content limit";
      case REDIRECTS -> "redirects by " + route.actions().redirectsFile();
      case AUTH -> "auth by " + authName(route.auth());
      case SPLIT -> "split (some to " + route.actions().split().upstream() + ", past the cache)";
      case CACHE -> "cache";
      case OVERLOAD -> "overload";
      case RULES -> "headers and path";
      case MIRROR -> "mirror (copies to " + route.actions().mirror().upstream() + ")";
      case TARGET -> (route.upstream() == null ? "" : "upstream ") + targetName(route);
    };
  }

  /** Who decides about clients: {@code password}, {@code token} or an upstream. */
  static String authName(AuthSettings auth) {
    if (auth.forward().upstream() != null) {
      return "upstream " + auth.forward().upstream();
    }
    return auth.jwt().keys() == null ? "password" : "token";
  }

  /** What the API calls the end of the route. */
  static String targetName(RouteSettings route) {
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
  public RouteSettings route() {
    return route;
  }

  @Override
  public boolean isPastCache() {
    return isPastCache;
  }

  @Override
  public Explanation lookUp(RequestHead request) {
    return Objects.requireNonNull(cache, "cache").explain(request);
  }

  @Override
  public QueryRules query() {
    return Objects.requireNonNull(cache, "cache").query();
  }

  /** The first station. */
  ExchangeHandler first() {
    return first;
  }

  /** The cache that its requests are looked for in; null if it has none, or they pass it by. */
  @Nullable CacheHandler cache() {
    return isPastCache ? null : cache;
  }

  /** What redirects paths that have moved; null if the route has no file of them. */
  @Override
  public @Nullable RedirectTable moved() {
    return moved == null ? null : moved.table();
  }

  /** How the route's upstream is connected to; null if the route answers by itself. */
  @Override
  public @Nullable PoolSettings pool() {
    String upstream = route.upstream();
    return upstream == null || configuration.isWelcome(route)
        ? null
        : configuration.upstream(upstream).settings().pool();
  }

  /** The room for content that waits in a file. */
  @Override
  public long fileBytes() {
    return configuration.spool().fileBytes();
  }

  /** These stations as handlers, from the target on back. */
  private ExchangeHandler linked(List<Station> way, boolean isOther) {
    ExchangeHandler next = isOther ? otherUpstream() : target();
    RouteGate forwards = RouteGate.OPEN;
    for (int i = way.size() - 2; i >= 0; i--) {
      Station station = way.get(i);
      switch (station) {
        case ACCESS, RATE_LIMIT, OVERLOAD -> {
          boolean isBehind = way.subList(0, i).contains(Station.CACHE);
          RouteGate gate = gate(station, isBehind);
          if (isBehind) {
            forwards = gate.and(forwards);
          } else {
            next = gate.before(next);
          }
        }
        case AUTH -> next = authenticated(next);
        case CACHE -> next = cached(next, forwards, isOther);
        case SPLIT -> {
          ExchangeHandler other = linked(way.subList(i + 1, way.size()), true);
          next = SplitHandler.of(route.actions().split(), next, other);
        }
        case REDIRECTS -> next = moving(next);
        case MIRROR -> next = isOther ? next : mirrored(next);
        case RULES -> next = rules(route, rules -> rules, next, pages);
        case ERROR_PAGES -> next = paged(next);
        case SECURITY_HEADERS -> next = secured(next);
        case CONTENT_LIMIT -> next = bounded(next);
        case REQUEST_ID -> next = new RequestId(next);
        case TARGET -> throw new AssertionError("a target is the last station");
      }
    }
    return next;
  }

  /** The way of clients, beside that of the requests of other nodes, which go to the cache. */
  private ExchangeHandler forked(ExchangeHandler clients) {
    CacheHandler own = cache;
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
    ExchangeHandler stored = paged(isPastCache ? own.bypass("path") : own);
    ExchangeHandler past = paged(own.bypass("behind"));
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

  private RouteGate gate(Station station, boolean isBehindCache) {
    return switch (station) {
      case ACCESS -> RouteGate.of(route.access());
      case RATE_LIMIT ->
          parts.peers() == null ? rates.gate(isBehindCache) : ofClients(rates.gate(isBehindCache));
      default -> parts.overload;
    };
  }

  private static RouteGate ofClients(RouteGate gate) {
    return exchange -> exchange.request().sender() == Sender.CLIENT ? gate.refusal(exchange) : null;
  }

  private static ExchangeHandler secured(ExchangeHandler next) {
    return exchange -> {
      exchange.notes().securityFields();
      next.handle(exchange);
    };
  }

  /** Refuses content whose length is known; of the rest, the connection counts what comes. */
  private ExchangeHandler bounded(ExchangeHandler next) {
    long limit = route.limits().requestContent();
    return exchange -> {
      if (exchange.content().length() > limit) {
        exchange.reply().fail(TOO_LARGE);
      } else {
        exchange.notes().contentLimit(limit);
        next.handle(exchange);
      }
    };
  }

  private ExchangeHandler authenticated(ExchangeHandler next) {
    return route
        .auth()
        .station(server -> marked(upstreams.authServer(server)), parts.auth(), parts.clock(), next);
  }

  /** What of errors says what the pages do. */
  private ExchangeHandler paged(ExchangeHandler next) {
    return exchange -> {
      if (ErrorPages.suit(exchange.request())) {
        exchange.notes().errorPages(pages);
      }
      next.handle(exchange);
    };
  }

  private ExchangeHandler cached(ExchangeHandler next, RouteGate forwards, boolean isOther) {
    if (isOther) {
      return caching(next, forwards).bypass("split");
    }
    if (cache == null) {
      cache = caching(next, forwards);
    }
    return isPastCache ? cache.bypass("path") : cache;
  }

  private CacheHandler caching(ExchangeHandler next, RouteGate forwards) {
    ExchangeHandler storable = parts.peers() == null ? next : new PeerStation(parts.peers(), next);
    Onward onward = new Onward(next, storable, parts.name());
    return parts.cache.handler(onward, route.cache(), configuration.cache(), forwards);
  }

  /**
   * What a route does to requests and responses, before {@code next}.
   *
   * @param read gives the rules as they are to be applied
   */
  static RuledHandler rules(
      RouteSettings route,
      UnaryOperator<HeaderRules> read,
      ExchangeHandler next,
      ErrorPages pages) {
    RouteActions actions = route.actions();
    HeaderRules response = read.apply(actions.responseHeaders());
    return new RuledHandler(
        next,
        read.apply(actions.requestHeaders()),
        actions.requestId() ? RequestId.ofStored(response) : response,
        actions.securityHeaders(),
        route.path(),
        actions.pathRewrite(),
        pages);
  }

  private ExchangeHandler moving(ExchangeHandler next) {
    Path file = Objects.requireNonNull(route.actions().redirectsFile(), "redirects-file");
    try {
      RedirectsFile moving = new RedirectsFile(file, next, parts.files(), parts.clock());
      moved = moving;
      return moving;
    } catch (IOException wrong) {
      throw new UncheckedIOException(wrong.getMessage(), wrong);
    }
  }

  private ExchangeHandler mirrored(ExchangeHandler next) {
    var mirror = route.actions().mirror();
    String name = Objects.requireNonNull(mirror.upstream(), "mirror.upstream");
    return new MirrorHandler(
        next, marked(upstreams.handler(name, route)), mirror.share(), parts.mirrorDropped);
  }

  private ExchangeHandler otherUpstream() {
    String name = Objects.requireNonNull(route.actions().split().upstream(), "split.upstream");
    return marked(upstreams.handler(name, route));
  }

  private ExchangeHandler marked(ExchangeHandler upstream) {
    return parts.peers() == null ? upstream : parts.peers().marking(upstream);
  }

  private ExchangeHandler target() {
    RouteActions actions = route.actions();
    if (route.upstream() != null) {
      return marked(upstreams.handler(route));
    }
    if (actions.redirect().isOn()) {
      return actions.redirect();
    }
    if (actions.respond().isOn()) {
      return actions.respond().answering(body(actions));
    }
    return new FileHandler(
        Objects.requireNonNull(actions.root(), "root"), parts.files, parts.clock);
  }

  private static byte[] body(RouteActions actions) {
    try {
      return actions.respond().content();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable.getMessage(), unreadable);
    }
  }
}
