package io.kamille.cache.fill;

import io.kamille.cache.coding.Coder;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Validators;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.LoopStates;
import io.kamille.cache.serve.ReplyHandover;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Sends requests on toward the origin and sees to what becomes of the answers. Any loop. */
public final class Fetches {

  /** What makes a request one for less than the whole response. */
  private static final long FOR_LESS =
      Fields.mask(
          FieldName.IF_NONE_MATCH,
          FieldName.IF_MODIFIED_SINCE,
          FieldName.IF_RANGE,
          FieldName.RANGE);

  private final ExchangeHandler next;
  private final TieredStore store;
  private final InFlightTable flights;
  private final BiConsumer<RequestHead, ResponseHead> invalidation;
  private final CacheStatus cacheStatus;
  private final LoopStates loops;
  private final FillSettings settings;
  private final WallClock clock;
  private final RouteFills route;

  /**
   * The ways on from one route.
   *
   * @param invalidation told of the response to each unsafe request
   */
  public Fetches(
      ExchangeHandler next,
      TieredStore store,
      InFlightTable flights,
      BiConsumer<RequestHead, ResponseHead> invalidation,
      Coder coder,
      StoredReply replies,
      CacheStatus cacheStatus,
      LoopStates loops,
      FillSettings settings,
      WallClock clock) {
    this.next = next;
    this.store = store;
    this.flights = flights;
    this.invalidation = invalidation;
    this.cacheStatus = cacheStatus;
    this.loops = loops;
    this.settings = settings;
    this.clock = clock;
    this.route =
        new RouteFills(store, flights, coder, replies, cacheStatus, loops, settings, clock);
  }

  // The ways on

  /** Forwards a request as it is; its response has nothing to do with the store. */
  public void pass(Exchange exchange, Forwarding forwarding) {
    pass(exchange, forwarding, head -> settings.varyBy().addTo(head.fields()));
  }

  /** Forwards an unsafe request, whose response may invalidate what is stored (RFC 9111 §4.4). */
  public void passUnsafe(Exchange exchange, Forwarding forwarding) {
    RequestHead request = exchange.request();
    pass(exchange, forwarding, head -> invalidation.accept(request, head));
  }

  private void pass(Exchange exchange, Forwarding forwarding, PassReply.HeadObserver observer) {
    loops.current().counters().forwarded(forwarding.reason());
    exchange.notes().cache(CacheResult.BYPASS);
    Forwarding told = cacheStatus.keyed(forwarding, exchange.request());
    next.handle(exchange.behind(new PassReply(exchange, cacheStatus, told, observer)));
  }

  /**
   * Forwards a request whose response may be stored.
   *
   * @param key kept
   * @param flight those who wait for the response, or null
   * @param stale a response without validator that may serve in place of an error, or null; takes
   *     over one lease
   */
  public void fill(
      Exchange exchange,
      CacheKey key,
      Forwarding forwarding,
      @Nullable InFlight flight,
      @Nullable StoredResponse stale) {
    Fetch fetch = fetch(exchange, key, forwarding, flight);
    Validation validation = stale == null ? null : new Validation(route, fetch, stale, false);
    forward(fetch, validation, forWhole(exchange.request()));
  }

  /**
   * As {@link #fill}, for a key whose responses could not be shared lately: conditions of the
   * client's stay in the request, so that the origin may answer shortly, and the codings it takes,
   * because we shall probably not give it any.
   */
  public void fillPerhaps(Exchange exchange, CacheKey key, Forwarding forwarding) {
    forward(fetch(exchange, key, forwarding, null, false), null, exchange.request());
  }

  /**
   * Asks the origin whether a stored response is still good (RFC 9111 §4.3).
   *
   * @param key kept
   * @param flight those who wait for the answer, or null
   * @param stored takes over one lease
   */
  public void validate(
      Exchange exchange,
      CacheKey key,
      Forwarding forwarding,
      @Nullable InFlight flight,
      StoredResponse stored) {
    boolean isOfCodings = stored.selecting().has(FieldName.ACCEPT_ENCODING);
    Fetch fetch = fetch(exchange, key, forwarding, flight, !isOfCodings && mayBeCoded(exchange));
    RequestHead conditional = exchange.request().copy();
    Validators.makeConditional(conditional.fields(), stored.facts());
    forward(fetch, new Validation(route, fetch, stored, true), conditional);
  }

  /**
   * Validates a stored response by a GET without anybody waiting for it (RFC 5861 §3), unless that
   * is under way or too much of it is. What the client takes stale, or only from a cache, is no
   * word to the origin.
   *
   * @param exchange the one whose client was or will be answered; borrowed
   * @param stored borrowed; the caller holds a lease
   */
  public void validateInBackground(Exchange exchange, CacheKey key, StoredResponse stored) {
    InFlight flight = beginInBackground(exchange, key);
    if (flight == null) {
      return;
    }
    stored.retain();
    Exchange own = inBackground(exchange);
    own.request().fields().remove(FieldName.CACHE_CONTROL);
    Forwarding forwarding = new Forwarding(ForwardReason.STALE);
    if (stored.facts().hasValidator()) {
      validate(own, key, forwarding, flight, stored);
    } else {
      fill(own, key, forwarding, flight, stored);
    }
  }

  /**
   * Fetches the whole of what a client wants a part of, without anybody waiting for it, unless that
   * is under way, or was of no use lately, or too much of it is under way.
   *
   * @param exchange the one whose client will be answered otherwise; borrowed
   */
  public void fillInBackground(Exchange exchange, CacheKey key) {
    if (flights.isUncachable(key, exchange.request())) {
      return;
    }
    InFlight flight = beginInBackground(exchange, key);
    if (flight != null) {
      fill(inBackground(exchange), key, new Forwarding(ForwardReason.PARTIAL), flight, null);
    }
  }

  private @Nullable InFlight beginInBackground(Exchange exchange, CacheKey key) {
    if (flights.isPostponed(key) || !flights.enterBackground()) {
      return null;
    }
    InFlight flight = flights.begin(key, exchange.loop());
    if (flight == null) {
      flights.leaveBackground();
    }
    return flight;
  }

  /** An exchange like that one without a client, which leaves the background as it ends. */
  private Exchange inBackground(Exchange exchange) {
    RequestHead request = unconditional(exchange.request());
    request.get();
    Exchange own =
        new Exchange(
            exchange.loop(),
            exchange.client(),
            exchange.local(),
            request,
            RequestContent.NONE,
            new DiscardingReply(flights::leaveBackground));
    own.notes().route(exchange.notes().route());
    return own;
  }

  private Fetch fetch(
      Exchange exchange, CacheKey key, Forwarding forwarding, @Nullable InFlight flight) {
    return fetch(exchange, key, forwarding, flight, mayBeCoded(exchange));
  }

  private boolean mayBeCoded(Exchange exchange) {
    return settings.coding().isOn() && !exchange.request().isAuthenticated();
  }

  private Fetch fetch(
      Exchange exchange,
      CacheKey key,
      Forwarding forwarding,
      @Nullable InFlight flight,
      boolean asksForIdentity) {
    loops.current().counters().forwarded(forwarding.reason());
    exchange.notes().cache(CacheResult.MISS);
    return new Fetch(
        exchange,
        exchange.request(),
        key,
        cacheStatus.keyed(forwarding, exchange.request()),
        flight,
        clock.epochSeconds(),
        clock.nanos(),
        store.moment(key),
        exchange.reply() instanceof DiscardingReply,
        asksForIdentity);
  }

  /** Sends a validation's request out again, without conditions. */
  private void repeat(Fetch before, ReplyHandover client, @Nullable InFlight flight) {
    Fetch fetch =
        new Fetch(
            before.exchange().behind(client),
            before.request(),
            before.key(),
            before.forwarding(),
            flight,
            clock.epochSeconds(),
            clock.nanos(),
            store.moment(before.key()),
            before.isInBackground(),
            before.asksForIdentity());
    forward(fetch, null, forWhole(before.request()));
  }

  /** A copy that asks for the whole response, whatever the client has or wants of it. */
  private static RequestHead unconditional(RequestHead request) {
    RequestHead copy = request.copy();
    Validators.makeUnconditional(copy.fields());
    return copy;
  }

  /** The request itself if it asks for the whole response, else a copy that does. */
  private static RequestHead forWhole(RequestHead request) {
    return request.fields().hasAny(FOR_LESS) ? unconditional(request) : request;
  }

  private void forward(Fetch fetch, @Nullable Validation validation, RequestHead request) {
    ReplyHandover client = ReplyHandover.of(fetch.exchange().reply());
    RequestHead asked = fetch.asksForIdentity() ? forIdentity(request, fetch.request()) : request;
    FillReply reply = new FillReply(route, fetch, client, validation, this::repeat);
    next.handle(fetch.exchange().behind(asked, reply));
  }

  /** Asks for content without coding, so that one response is right for all and can be coded. */
  private static RequestHead forIdentity(RequestHead request, RequestHead fromClient) {
    RequestHead asking = request == fromClient ? request.copy() : request;
    asking.fields().set(FieldName.ACCEPT_ENCODING, "identity");
    return asking;
  }
}
