package io.kamille.cache.fill;

import io.kamille.cache.coding.CompressingReply;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.Validators;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.DiscardingReply;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.function.Consumer;
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

  /**
   * Where a route sends requests on to.
   *
   * @param next what nobody may store
   * @param storable what may be stored
   * @param name what the cache calls itself in {@code Cache-Status}
   */
  public record Onward(ExchangeHandler next, ExchangeHandler storable, String name) {}

  private final CacheRoute route;
  private final Onward onward;

  /** The ways on from one route. */
  public Fetches(CacheRoute route, Onward onward) {
    this.route = route;
    this.onward = onward;
  }

  // The ways on

  /** Forwards a request as it is; its response has nothing to do with the store. */
  public void pass(Exchange exchange, Forwarding forwarding) {
    pass(exchange, forwarding, onward.next(), _ -> {});
  }

  /** The same for a part or the head of what another node may have whole. */
  public void passToOwner(Exchange exchange, Forwarding forwarding) {
    pass(exchange, forwarding, onward.storable(), _ -> {});
  }

  /** Forwards an unsafe request, whose response may invalidate what is stored (RFC 9111 §4.4). */
  public void passUnsafe(Exchange exchange, Forwarding forwarding) {
    RequestHead request = exchange.request();
    HeldReply client = new HeldReply(exchange);
    Consumer<ResponseHead> observer =
        head -> client.until(route.parts().invalidation().apply(request, head));
    pass(exchange.behind(client), forwarding, onward.next(), observer);
  }

  private void pass(
      Exchange exchange,
      Forwarding forwarding,
      ExchangeHandler way,
      Consumer<ResponseHead> observer) {
    route.counters().forwarded(forwarding.reason());
    exchange.notes().cache(CacheResult.BYPASS);
    Exchange coded = exchange.behind(toClient(exchange));
    var reply = new PassReply(coded, route, forwarding, observer);
    way.handle(exchange.behind(reply));
  }

  /** The reply to the client, which compresses if the route does and somebody waits. */
  private Reply toClient(Exchange exchange) {
    Reply client = exchange.reply();
    return client instanceof DiscardingReply
        ? client
        : CompressingReply.of(exchange, route.settings().coding(), route.parts().coder());
  }

  /**
   * Forwards a request whose response may be stored: to get the whole, or to ask whether a stored
   * response is still good (RFC 9111 §4.3).
   *
   * @param demands the request's directives
   * @param key kept
   * @param flight those who wait for the answer, or null
   * @param stored what is asked about, or may serve in place of an error; or null. Takes over one
   *     lease
   */
  public void fetch(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      ForwardReason reason,
      @Nullable InFlight flight,
      @Nullable StoredResponse stored,
      boolean isValidation) {
    boolean isOfCodings =
        isValidation && stored != null && stored.selecting().has(FieldName.ACCEPT_ENCODING);
    boolean mayBeCoded = mayBeCoded(route.settings(), exchange.request()) && !isOfCodings;
    Fetch fetch = begin(exchange, demands, key, new Forwarding(reason), flight, mayBeCoded);
    RequestHead asked;
    if (isValidation && stored != null) {
      asked = exchange.request().copy();
      Validators.makeConditional(asked.fields(), stored.facts());
    } else {
      asked = forWhole(exchange.request());
    }
    forward(fetch, earlier(fetch, stored, isValidation), asked);
  }

  private @Nullable StaleCandidate earlier(
      Fetch fetch, @Nullable StoredResponse stored, boolean isValidation) {
    return stored == null ? null : new StaleCandidate(route, fetch, stored, isValidation);
  }

  /**
   * The same where the response is probably not shared, because others were not lately or because
   * of what the request asks for: conditions and ranges of the client's stay in it, so that the
   * origin may answer shortly, and the codings it takes, because we shall probably not give it any.
   *
   * @param stored may serve in place of an error, or null. Takes over one lease
   */
  public void fetchPerhaps(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      Forwarding forwarding,
      @Nullable StoredResponse stored) {
    Fetch fetch = begin(exchange, demands, key, forwarding, null, false);
    LeaderReply reply = new LeaderReply(route, fetch, earlier(fetch, stored, false), this::repeat);
    RequestHead request = fetch.request();
    RequestHead asked = asked(route.settings(), request, request, false);
    onward.next().handle(fetch.exchange().behind(asked, reply));
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
    InFlight flight = beginInBackground(exchange, key, stored.selecting());
    if (flight == null) {
      return;
    }
    stored.retain();
    Exchange own = inBackground(exchange);
    own.request().fields().remove(FieldName.CACHE_CONTROL);
    CacheControl none = CacheControl.ofRequest(own.request().fields());
    boolean isValidation = stored.facts().hasValidator();
    fetch(own, none, key, ForwardReason.STALE, flight, stored, isValidation);
  }

  /**
   * Fetches the whole of what a client wants a part of, without anybody waiting for it, unless that
   * is under way, or was of no use lately, or too much of it is under way.
   *
   * @param exchange the one whose client will be answered otherwise; borrowed
   */
  public void fillInBackground(Exchange exchange, CacheControl demands, CacheKey key) {
    if (flights().isUncachable(key, exchange.request())) {
      return;
    }
    InFlight flight = beginInBackground(exchange, key, null);
    if (flight != null) {
      Exchange own = inBackground(exchange);
      fetch(own, demands, key, ForwardReason.PARTIAL, flight, null, false);
    }
  }

  private InFlightTable flights() {
    return route.parts().flights();
  }

  private @Nullable InFlight beginInBackground(
      Exchange exchange, CacheKey key, @Nullable SelectingFields like) {
    if (flights().isPostponed(key) || !flights().enterBackground()) {
      return null;
    }
    InFlight flight = flights().begin(key, exchange.request(), like, exchange.loop());
    if (flight == null) {
      flights().leaveBackground();
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
            new DiscardingReply(flights()::leaveBackground));
    own.notes().route(exchange.notes().route());
    return own;
  }

  private Fetch begin(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      Forwarding forwarding,
      @Nullable InFlight flight,
      boolean asksForIdentity) {
    route.counters().forwarded(forwarding.reason());
    exchange.notes().cache(CacheResult.MISS);
    return new Fetch(
        exchange.behind(ReplyHandover.of(toClient(exchange))),
        demands,
        key,
        demands.isCutOff() ? forwarding.detail("cut-off") : forwarding,
        flight,
        route.epochSeconds(),
        route.parts().clock().nanos(),
        route.store().moment(key),
        exchange.reply() instanceof DiscardingReply,
        asksForIdentity);
  }

  /** Sends a validation's request out again, without conditions, for those who wait. */
  private void repeat(Fetch before, @Nullable InFlight flight, @Nullable StaleCandidate earlier) {
    Fetch fetch =
        new Fetch(
            before.exchange(),
            before.demands(),
            before.key(),
            before.forwarding(),
            flight,
            route.epochSeconds(),
            route.parts().clock().nanos(),
            route.store().moment(before.key()),
            before.isInBackground(),
            before.asksForIdentity());
    StaleCandidate still = earlier == null ? null : earlier.again(fetch);
    forward(fetch, still, forWhole(before.request()));
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

  private void forward(Fetch fetch, @Nullable StaleCandidate earlier, RequestHead request) {
    RequestHead asked = asked(route.settings(), request, fetch.request(), fetch.asksForIdentity());
    LeaderReply reply = new LeaderReply(route, fetch, earlier, this::repeat);
    onward.storable().handle(fetch.exchange().behind(asked, reply));
  }

  /** What the origin is asked for a request whose whole response may be stored. Any thread. */
  public static RequestHead asked(CacheSettings settings, RequestHead fromClient) {
    boolean mayBeCoded = mayBeCoded(settings, fromClient);
    return asked(settings, forWhole(fromClient), fromClient, mayBeCoded);
  }

  /** Whether the origin is asked for a response that is given codings here. Any thread. */
  public static boolean mayBeCoded(CacheSettings settings, RequestHead fromClient) {
    return settings.coding().isOn() && !fromClient.isAuthenticated();
  }

  /**
   * Asks for nothing that the route's {@code vary-by} leaves open.
   *
   * @param asksForIdentity for content without coding, so that one response is right for all and
   *     can be coded
   */
  private static RequestHead asked(
      CacheSettings settings,
      RequestHead request,
      RequestHead fromClient,
      boolean asksForIdentity) {
    if (!asksForIdentity && settings.varyBy().isEmpty()) {
      return request;
    }
    RequestHead asking = request == fromClient ? request.copy() : request;
    if (asksForIdentity) {
      asking.fields().set(FieldName.ACCEPT_ENCODING, "identity");
    }
    settings.varyBy().applyTo(asking.fields());
    return asking;
  }
}
