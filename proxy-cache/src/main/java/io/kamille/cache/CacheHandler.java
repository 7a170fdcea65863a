package io.kamille.cache;

import io.kamille.cache.coding.Coder;
import io.kamille.cache.collapse.Follower;
import io.kamille.cache.collapse.InFlight;
import io.kamille.cache.collapse.InFlightTable;
import io.kamille.cache.fill.Fetches;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.promotion.DiskLookups;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.semantics.AcceptedCodings;
import io.kamille.cache.semantics.CacheControl;
import io.kamille.cache.semantics.Cookies;
import io.kamille.cache.semantics.ForwardReason;
import io.kamille.cache.semantics.ReusePlan.Forward;
import io.kamille.cache.semantics.ReusePlan.Refuse;
import io.kamille.cache.semantics.ReusePlan.Serve;
import io.kamille.cache.semantics.ReusePlan.ServeStale;
import io.kamille.cache.semantics.ReusePlan.Validate;
import io.kamille.cache.semantics.ReusePlanner;
import io.kamille.cache.semantics.Storability;
import io.kamille.cache.semantics.StoredFacts;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.LoopState;
import io.kamille.cache.serve.LoopStates;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tier.TieredStore;
import io.kamille.core.admission.RouteGate;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.time.WallClock;
import org.jspecify.annotations.Nullable;

/**
 * The cache on a request's way: answers from the store what it may, and hands on what it must (RFC
 * 9111 §4). Any loop.
 */
public final class CacheHandler implements ExchangeHandler {

  /** No deadline yet: the request has not been held back. */
  private static final long NOT_HELD = Long.MIN_VALUE;

  /** The same, and what was stored came from the disk just now. */
  private static final long FROM_DISK = Long.MIN_VALUE + 2;

  /** The same, and the disk was of no use. */
  private static final long AFTER_DISK = Long.MIN_VALUE + 3;

  private final TieredStore store;
  private final InFlightTable flights;
  private final LoopStates loops;
  private final CacheSettings settings;
  private final RouteGate forwardGate;
  private final WallClock clock;
  private final CacheStatus cacheStatus;
  private final StoredReply replies;
  private final Fetches fetches;
  private final Follower.Onward onward = new Onward();
  private final DiskLookups.Onward afterDisk =
      (exchange, recalled) -> handle(exchange, AFTER_DISK, recalled);
  private final @Nullable DiskLookups recalls;
  private final Coder coder;

  /**
   * A handler for one route.
   *
   * @param recalls who reads the disk; null if there is none
   * @param forwardGate asked about every request that what is stored does not answer
   */
  CacheHandler(
      ExchangeHandler next,
      TieredStore store,
      @Nullable DiskLookups recalls,
      InFlightTable flights,
      Removals removals,
      Coder coder,
      LoopStates loops,
      CacheSettings settings,
      RouteGate forwardGate,
      long sendfileFromBytes,
      WallClock clock) {
    this.store = store;
    this.recalls = recalls;
    this.coder = coder;
    this.flights = flights;
    this.loops = loops;
    this.settings = settings;
    this.forwardGate = forwardGate;
    this.clock = clock;
    this.cacheStatus = CacheStatus.of(settings.statusName(), settings.showsKey());
    this.replies = new StoredReply(cacheStatus, sendfileFromBytes);
    this.fetches =
        new Fetches(
            next,
            store,
            flights,
            removals,
            coder,
            replies,
            cacheStatus,
            loops,
            settings.fill(),
            clock);
  }

  /** Which query parameters count on its route. */
  public QueryRules query() {
    return settings.query();
  }

  @Override
  public void handle(Exchange exchange) {
    handle(exchange, NOT_HELD, null);
  }

  /**
   * What would become of this request, and why. Nothing is sent or stored; looking at what is
   * stored may carry out a purge that holds already. Any thread.
   *
   * @param request borrowed
   */
  public Explanation explain(RequestHead request) {
    return new CacheExplainer(store, flights, settings, clock, request).explain();
  }

  /**
   * Does with a request what is right.
   *
   * @param deadlineNanos until when the request may be held back (monotonic), {@link #NOT_HELD},
   *     {@link #AFTER_DISK}, {@link Follower#ALONE} or {@link Follower#TO_THE_END}
   * @param recalled what was read from the disk for its key; takes over one lease
   */
  private void handle(Exchange exchange, long deadlineNanos, @Nullable StoredResponse recalled) {
    RequestHead request = exchange.request();
    Forward bypass = ReusePlanner.bypass(request);
    if (bypass != null) {
      release(recalled);
      passBy(exchange, new Forwarding(bypass.reason()));
      return;
    }
    if (Cookies.has(request.fields(), settings.bypassCookies())) {
      release(recalled);
      passBy(exchange, new Forwarding(ForwardReason.BYPASS).detail("cookie"));
      return;
    }
    LoopState loop = loops.current();
    loop.queries().apply(settings.query(), request);
    CacheKey key = loop.probe().keyOf(request);
    Variants variants = store.find(key);
    long now = clock.epochSeconds();
    StoredResponse stored = selected(variants, request, now);
    long deadline = deadlineNanos;
    StoredResponse usable = recalled == null ? null : recalled(exchange, stored, recalled, now);
    if (usable != null) {
      if (!usable.content().isInFile()) {
        coder.submit(key.copy(), usable, settings.coding());
      }
      stored = usable;
      deadline = FROM_DISK;
    } else if (stored == null && deadline == NOT_HELD && isHeldForDisk(exchange, loop, key)) {
      return;
    }
    if (settings.coding().isOn() && AcceptedCodings.refuseIdentity(request.fields())) {
      useCoded(exchange, loop, key, stored, now, deadline);
    } else if (stored != null) {
      use(exchange, loop, key, stored, now, deadline);
    } else if (ReusePlanner.planMiss(request, variants != null) instanceof Forward miss) {
      forward(exchange, key, miss.reason(), null, waiting(deadline));
    } else {
      refuse(exchange);
    }
  }

  /**
   * Whether the request waits for what the disk has. It does not if the response is on its way:
   * what comes is newer.
   */
  private boolean isHeldForDisk(Exchange exchange, LoopState loop, CacheKey key) {
    return recalls != null
        && flights.find(key, exchange.request()) == null
        && recalls.hold(exchange, key, loop.home(), afterDisk);
  }

  /**
   * What was read from the disk, or has become of it in memory, if it is what this request selects.
   * Takes over a lease on both; the caller owns one on what is returned.
   */
  private @Nullable StoredResponse recalled(
      Exchange exchange, @Nullable StoredResponse stored, StoredResponse recalled, long now) {
    RequestHead request = exchange.request();
    if (stored != null && stored.isSameContent(recalled)) {
      recalled.release();
      return stored;
    }
    if (stored == null
        && recalled.selecting().matches(request)
        && store.isUnpurged(recalled)
        && (!recalled.content().isInFile() || maySendFromFile(exchange, recalled, now))) {
      return recalled;
    }
    recalled.release();
    return null;
  }

  /**
   * Whether a response that stays on the disk may be the answer: as it is, since nothing is stored
   * beside it that could be freshened, and to a client that takes regions.
   */
  private static boolean maySendFromFile(Exchange exchange, StoredResponse lent, long now) {
    RequestHead request = exchange.request();
    return (request.method() == Method.HEAD || exchange.reply().takesRegions())
        && ReusePlanner.plan(request, lent.facts(), now) == Serve.SERVE;
  }

  /** The deadline of a request that the disk does not concern any more. */
  private static long waiting(long deadlineNanos) {
    return deadlineNanos == FROM_DISK || deadlineNanos == AFTER_DISK ? NOT_HELD : deadlineNanos;
  }

  /** Does with a stored response what is right. Takes over one lease on it. */
  private void use(
      Exchange exchange,
      LoopState loop,
      CacheKey key,
      StoredResponse stored,
      long now,
      long deadlineNanos) {
    switch (ReusePlanner.plan(exchange.request(), stored.facts(), now)) {
      case Serve.SERVE -> {
        if (!stored.content().isInFile()
            && settings.background().isDue(exchange.request(), stored.facts(), now)) {
          fetches.validateInBackground(exchange, key.copy(), stored);
        }
        serve(exchange, loop, key, stored, now, deadlineNanos == FROM_DISK);
      }
      case ServeStale.SERVE_STALE -> {
        fetches.validateInBackground(exchange, key.copy(), stored);
        serve(exchange, loop, key, stored, now, deadlineNanos == FROM_DISK);
      }
      case Validate validate ->
          validate(exchange, key, validate.reason(), stored, waiting(deadlineNanos));
      case Forward forward ->
          forward(exchange, key, forward.reason(), stored, waiting(deadlineNanos));
      case Refuse.REFUSE -> {
        stored.release();
        refuse(exchange);
      }
    }
  }

  /**
   * Answers a request that excludes content without coding: with a coded form if there is one, else
   * the origin decides (RFC 9110 §12.5.3). Takes over one lease on {@code stored}.
   */
  private void useCoded(
      Exchange exchange,
      LoopState loop,
      CacheKey key,
      @Nullable StoredResponse stored,
      long now,
      long deadlineNanos) {
    RequestHead request = exchange.request();
    if (stored != null && mayServeCoded(request, stored, now)) {
      use(exchange, loop, key, stored, now, deadlineNanos);
      return;
    }
    StoredResponse coded = stored != null && stored.formFor(request) != stored ? stored : null;
    if (coded == null) {
      release(stored);
    }
    if (CacheControl.ofRequest(request.fields()).isOnlyIfCached()) {
      release(coded);
      refuse(exchange);
    } else if (!isRefused(exchange, coded)) {
      release(coded);
      fetches.pass(exchange, new Forwarding(ForwardReason.BYPASS).detail("identity-refused"));
    }
  }

  /** Whether a coded form is the answer to a request that excludes content without coding. */
  static boolean mayServeCoded(RequestHead request, StoredResponse stored, long now) {
    return stored.formFor(request) != stored
        && ReusePlanner.plan(request, stored.facts(), now) == Serve.SERVE;
  }

  /** The response that the request selects, with a lease that the caller owns; or null. */
  private static @Nullable StoredResponse selected(
      @Nullable Variants variants, RequestHead request, long now) {
    StoredResponse response = variants == null ? null : variants.select(request, now);
    return response != null && response.tryRetain() ? response : null;
  }

  private void serve(
      Exchange exchange,
      LoopState loop,
      CacheKey key,
      StoredResponse stored,
      long now,
      boolean isFromDisk) {
    boolean isFresh = stored.facts().isFresh(now);
    loop.counters().hit(isFresh);
    stored.countHit();
    store.asked(key, stored, now);
    exchange.notes().cache(isFresh ? CacheResult.HIT : CacheResult.STALE_HIT);
    if (isFromDisk) {
      loop.runsOn(exchange.loop());
    }
    Forwarding told =
        isFromDisk
            ? cacheStatus.keyed(
                Forwarding.readFromDisk(stored.facts().ttlSeconds(now)), exchange.request())
            : null;
    replies.send(loop, exchange.request(), exchange.reply(), stored, now, told);
  }

  /** RFC 9111 §5.2.1.7. */
  private void refuse(Exchange exchange) {
    Forwarding nothing = new Forwarding(ForwardReason.MISS).detail("only-if-cached");
    exchange
        .notes()
        .cacheStatus(cacheStatus.member(cacheStatus.keyed(nothing, exchange.request())));
    exchange
        .reply()
        .fail(
            new Failure(
                Kind.PROXY_INTERNAL_RESPONSE,
                StatusCode.GATEWAY_TIMEOUT,
                "only-if-cached, and nothing usable is stored"));
  }

  /**
   * Whether the request may not be forwarded; then it has its answer.
   *
   * @param stale what may be the answer in place of an error, or null; if so, takes over one lease
   */
  private boolean isRefused(Exchange exchange, @Nullable StoredResponse stale) {
    Failure refusal = forwardGate.refusal(exchange);
    if (refusal == null) {
      return false;
    }
    long now = clock.epochSeconds();
    if (stale != null
        && StoredFacts.isError(refusal.status())
        && !ForwardWay.isForOrigin(exchange.request())
        && mayServeOnError(exchange.request(), stale, now)) {
      LoopState loop = loops.current();
      loop.counters().hit(stale.facts().isFresh(now));
      Forwarding told = Forwarding.inPlaceOfError(stale.facts().ttlSeconds(now));
      serveOnError(exchange, loop, stale, now, cacheStatus.keyed(told, exchange.request()));
    } else {
      release(stale);
      exchange.reply().fail(refusal);
    }
    return true;
  }

  private static boolean mayServeOnError(RequestHead request, StoredResponse stored, long now) {
    return stored.facts().mayServeOnError(CacheControl.ofRequest(request.fields()), now);
  }

  /** Answers with what is stored in place of an error (RFC 5861 §4). Takes over one lease on it. */
  private void serveOnError(
      Exchange exchange, LoopState loop, StoredResponse stored, long now, Forwarding told) {
    boolean isFresh = stored.facts().isFresh(now);
    exchange.notes().cache(isFresh ? CacheResult.HIT : CacheResult.STALE_HIT);
    replies.send(loop, exchange.request(), exchange.reply(), stored, now, told);
  }

  private void passBy(Exchange exchange, Forwarding forwarding) {
    if (ReusePlanner.isOnlyForCache(exchange.request())) {
      refuse(exchange);
    } else {
      pass(exchange, forwarding);
    }
  }

  private void pass(Exchange exchange, Forwarding forwarding) {
    if (isRefused(exchange, null)) {
      return;
    }
    if (exchange.request().method().isSafe()) {
      fetches.pass(exchange, forwarding);
    } else {
      fetches.passUnsafe(exchange, forwarding);
    }
  }

  /** A handler for paths of this route that cache nothing. */
  public Bypass bypass() {
    return new Bypass();
  }

  /** Passes every request. Any loop. */
  public final class Bypass implements ExchangeHandler {

    @Override
    public void handle(Exchange exchange) {
      ForwardReason reason = reason(exchange.request());
      Forwarding forwarding = new Forwarding(reason);
      pass(exchange, reason == ForwardReason.BYPASS ? forwarding.detail("path") : forwarding);
    }

    /** Why this request is forwarded; any thread. */
    public ForwardReason reason(RequestHead request) {
      Forward usual = ReusePlanner.bypass(request);
      return usual == null ? ForwardReason.BYPASS : usual.reason();
    }
  }

  /** Asks the origin about a stored response, of which it takes over one lease. */
  private void validate(
      Exchange exchange,
      CacheKey key,
      ForwardReason reason,
      StoredResponse stored,
      long deadlineNanos) {
    if (deadlineNanos == NOT_HELD && isRefused(exchange, stored)) {
      return;
    }
    ForwardWay way =
        ForwardWay.ofValidation(
            exchange.request(), reason, stored.facts(), mayBeHeld(deadlineNanos));
    if (way == ForwardWay.COLLAPSE) {
      leadOrFollow(exchange, key, reason, stored, true, deadlineNanos);
    } else {
      fetches.validate(exchange, key.copy(), new Forwarding(reason), null, stored);
    }
  }

  /**
   * Asks the origin for the response.
   *
   * @param stale what is stored and cannot be validated, or null; takes over one lease
   */
  private void forward(
      Exchange exchange,
      CacheKey key,
      ForwardReason reason,
      @Nullable StoredResponse stale,
      long deadlineNanos) {
    if (deadlineNanos == NOT_HELD && isRefused(exchange, stale)) {
      return;
    }
    RequestHead request = exchange.request();
    ForwardWay way =
        ForwardWay.of(request, key, reason, stale != null, mayBeHeld(deadlineNanos), flights);
    switch (way) {
      case PASS_FOR_ORIGIN, PASS_UNSTORABLE -> {
        release(stale);
        if (way == ForwardWay.PASS_FOR_ORIGIN
            && ForwardWay.fillsAround(request, settings.background())) {
          fetches.fillInBackground(exchange, key.copy());
        }
        Forwarding forwarding = new Forwarding(reason);
        fetches.pass(
            exchange,
            way == ForwardWay.PASS_FOR_ORIGIN
                ? forwarding
                : forwarding.detail(Storability.of(request).detail()));
      }
      case PERHAPS -> {
        release(stale);
        fetches.fillPerhaps(exchange, key.copy(), new Forwarding(reason));
      }
      case COLLAPSE -> leadOrFollow(exchange, key, reason, stale, false, deadlineNanos);
      case FRESHEN, ALONE ->
          fetches.fill(exchange, key.copy(), new Forwarding(reason), null, stale);
    }
  }

  private boolean mayBeHeld(long deadlineNanos) {
    return settings.mayCollapse() && deadlineNanos != Follower.ALONE;
  }

  /** Collapses the request with those for the same key (RFC 9111 §4). */
  private void leadOrFollow(
      Exchange exchange,
      CacheKey key,
      ForwardReason reason,
      @Nullable StoredResponse stored,
      boolean isValidation,
      long deadlineNanos) {
    InFlight flight = flights.find(key, exchange.request());
    while (flight == null) {
      CacheKey own = key.copy();
      InFlight begun = flights.begin(own, exchange.loop());
      if (begun != null) {
        lead(exchange, own, begun, reason, stored, isValidation);
        return;
      }
      flight = flights.find(key, exchange.request());
    }
    release(stored);
    if (deadlineNanos == NOT_HELD) {
      loops.current().counters().collapsed();
    }
    Follower.follow(exchange, flight, reason, cacheStatus, onward, deadline(deadlineNanos));
  }

  /** The deadline given, or a new one if that has passed. */
  private long deadline(long given) {
    long now = clock.nanos();
    boolean isStanding = given == Follower.TO_THE_END || (given != NOT_HELD && given - now > 0);
    return isStanding ? given : now + settings.collapseWaitTimeout().toNanos();
  }

  /** Forwards the request, unless the one before it has just brought what it wants. */
  private void lead(
      Exchange exchange,
      CacheKey key,
      InFlight flight,
      ForwardReason reason,
      @Nullable StoredResponse stored,
      boolean isValidation) {
    long now = clock.epochSeconds();
    StoredResponse newer = selected(store.peek(key), exchange.request(), now);
    if (newer != null
        && newer != stored
        && ReusePlanner.plan(exchange.request(), newer.facts(), now) == Serve.SERVE) {
      release(stored);
      flight.freshened();
      serve(exchange, loops.current(), key, newer, now, false);
      return;
    }
    release(newer);
    Forwarding forwarding = new Forwarding(reason);
    if (isValidation && stored != null) {
      fetches.validate(exchange, key, forwarding, flight, stored);
    } else {
      fetches.fill(exchange, key, forwarding, flight, stored);
    }
  }

  private static void release(@Nullable StoredResponse stored) {
    if (stored != null) {
      stored.release();
    }
  }

  /** Where followers go that were not helped. */
  private final class Onward implements Follower.Onward {

    @Override
    public void again(Exchange exchange, long deadlineNanos) {
      handle(exchange, deadlineNanos, null);
    }

    @Override
    public void brokenOffSlow() {
      loops.current().counters().brokenOffSlow();
    }

    @Override
    public void failed(Exchange exchange, Forwarding forwarding, Failure why) {
      LoopState loop = loops.current();
      RequestHead request = exchange.request();
      long now = clock.epochSeconds();
      StoredResponse stored = selected(store.peek(loop.probe().keyOf(request)), request, now);
      if (stored != null && mayServeOnError(request, stored, now)) {
        forwarding.detail("stale-if-error").ttl(stored.facts().ttlSeconds(now));
        serveOnError(exchange, loop, stored, now, forwarding);
      } else {
        release(stored);
        exchange.notes().cacheStatus(cacheStatus.member(forwarding));
        exchange.reply().fail(why);
      }
    }
  }
}
