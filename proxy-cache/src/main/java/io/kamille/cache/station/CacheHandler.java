package io.kamille.cache.station;

import io.kamille.cache.decision.CacheDecision;
import io.kamille.cache.decision.CacheDecision.Ask;
import io.kamille.cache.decision.CacheDecision.Pass;
import io.kamille.cache.decision.CacheDecision.Pass.Cause;
import io.kamille.cache.decision.CacheDecision.Refuse;
import io.kamille.cache.decision.CacheDecision.Serve;
import io.kamille.cache.decision.CacheDecisions;
import io.kamille.cache.decision.CacheExplainer;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.fill.CacheParts;
import io.kamille.cache.fill.CacheRoute;
import io.kamille.cache.fill.Fetches;
import io.kamille.cache.fill.Follower;
import io.kamille.cache.fill.FollowerFallback;
import io.kamille.cache.fill.InFlight;
import io.kamille.cache.fill.Wait;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.Directive;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReuseRule;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.serve.CacheCounters.Event;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.LoopState;
import io.kamille.cache.serve.StoreServer;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.DiskLookups;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The cache on a request's way: answers from the store what it may, and hands on what it must (RFC
 * 9111 §4). Any loop.
 */
public final class CacheHandler implements ExchangeHandler {

  /*
   * A request comes here at the start, after the disk was read for it, and when those it waited for
   * were of no help. It is looked up anew each time, since the store may have changed meanwhile.
   * What becomes of it is decided by CacheDecisions and done here, in one switch.
   */
  /** How long a request waits for a response head before one of those that wait is forwarded. */
  private static final long COLLAPSE_WAIT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final CacheRoute route;
  private final CacheParts parts;
  private final CacheSettings settings;
  private final CacheDecisions decisions;
  private final Fetches fetches;
  private final CacheBypass bypass;
  private final FollowerFallback fallback = new Fallback();

  /**
   * A handler for one route.
   *
   * @param onward where requests go on to
   * @param forwardGate asked once about every request that what is stored does not answer
   */
  public CacheHandler(
      Fetches.Onward onward, CacheParts parts, CacheSettings settings, RouteGate forwardGate) {
    this.route = new CacheRoute(parts, settings, onward.name(), forwardGate);
    this.parts = parts;
    this.settings = settings;
    this.decisions = new CacheDecisions(settings, parts.flights());
    this.fetches = new Fetches(route, onward);
    this.bypass = new CacheBypass(route, fetches, "");
  }

  /** Which query parameters count on its route. */
  public QueryRules query() {
    return settings.query();
  }

  /**
   * A handler for requests of this route that neither come from the cache nor go into it.
   *
   * @param why in one word, for {@code Cache-Status}
   */
  public CacheBypass bypass(String why) {
    return new CacheBypass(route, fetches, why);
  }

  /**
   * What would become of this request, and why. Nothing is sent or stored; looking at what is
   * stored may carry out a purge that holds already. Any thread.
   *
   * @param request borrowed
   */
  public Explanation explain(RequestHead request) {
    return new CacheExplainer(
            decisions, parts.store(), parts.clock(), request, parts.demandsOf(request))
        .explain();
  }

  @Override
  public void handle(Exchange exchange) {
    lookUp(exchange, Wait.NOT_BEGUN, null, true);
  }

  /** The disk was read for a request. Takes over one lease on what was found, if anything was. */
  private void afterDisk(Exchange exchange, @Nullable StoredResponse read) {
    exchange.notes().mark(TraceStep.DISK, read == null ? "not on the disk" : "read");
    lookUp(exchange, Wait.NOT_BEGUN, read, false);
  }

  /**
   * Looks a request up and does with it what is right.
   *
   * @param read what was read from the disk for its key; takes over one lease
   * @param mayReadDisk whether the request may wait for the disk
   */
  private void lookUp(
      Exchange exchange, Wait wait, @Nullable StoredResponse read, boolean mayReadDisk) {
    RequestHead request = exchange.request();
    CacheControl demands = parts.demandsOf(request);
    CacheDecision early = decisions.beforeLookup(request, demands);
    if (early != null) {
      StoreServer.release(read);
      bypass(exchange, early);
      return;
    }
    LoopState loop = parts.loops().current();
    loop.queries().apply(settings.query(), request);
    CacheKey key = loop.probe().keyOf(request);
    Variants variants = parts.store().find(key);
    long now = parts.clock().epochSeconds();
    StoredResponse stored = StoreServer.selected(variants, request, now);
    ExchangeNotes notes = exchange.notes();
    notes.mark(TraceStep.LOOKUP, found(variants, stored));
    StoredResponse usable = read == null ? null : usable(exchange, stored, read);
    if (usable != null) {
      stored = usable;
      if (!usable.content().isInFile()) {
        parts.coder().submit(key.copy(), usable, settings.coding());
      }
    } else if (stored == null && mayReadDisk && waitForDisk(exchange, loop, key)) {
      notes.mark(TraceStep.DISK, "waits for the disk");
      return;
    }
    boolean mayWait = !wait.isOver();
    CacheDecision decision;
    try {
      decision =
          decisions.afterLookup(request, demands, key, variants != null, stored, mayWait, now);
      notes.mark(TraceStep.DECISION, word(decision));
    } catch (RuntimeException | Error fault) {
      StoreServer.release(stored);
      throw fault;
    }
    switch (decision) {
      case Serve serve -> {
        StoredResponse served = Objects.requireNonNull(stored);
        if (serve.isAskedBehind()) {
          fetches.validateInBackground(exchange, key.copy(), served);
        }
        route.server().serve(exchange, loop, key, served, usable != null, now);
      }
      case Ask ask -> {
        if (wait.isBegun() || !route.turnAway(exchange, demands, stored)) {
          ask(exchange, demands, key, ask, stored, like(wait, stored, variants), wait);
        }
      }
      case Pass pass -> pass(exchange, demands, key, pass, stored, wait);
      case Refuse refuse -> {
        StoreServer.release(stored);
        route.server().refuse(exchange);
      }
    }
  }

  private static String found(@Nullable Variants variants, @Nullable StoredResponse stored) {
    if (stored != null) {
      return "stored";
    }
    return variants == null ? "nothing stored" : "stored for other requests";
  }

  private static String word(CacheDecision decision) {
    ForwardReason reason = decision.reason();
    return reason == null ? decision.decision().token() : reason.token();
  }

  private void bypass(Exchange exchange, CacheDecision decision) {
    exchange.notes().mark(TraceStep.DECISION, "bypasses the cache");
    if (decision instanceof Pass pass) {
      bypass.pass(exchange, pass.forwarding());
    } else {
      route.server().refuse(exchange);
    }
  }

  /** Forwards a request whose response is not stored. Takes over one lease on {@code stored}. */
  private void pass(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      Pass pass,
      @Nullable StoredResponse stored,
      Wait wait) {
    boolean mayStandIn = stored != null && mayStandIn(exchange.request(), pass, stored);
    StoredResponse standIn = mayStandIn ? stored : null;
    if (standIn == null) {
      StoreServer.release(stored);
    }
    if (!wait.isBegun() && route.turnAway(exchange, demands, standIn)) {
      return;
    }
    if (pass.cause() == Cause.PART_OF_THE_WHOLE) {
      fetches.fillInBackground(exchange, demands, key.copy());
    }
    Forwarding forwarding = pass.forwarding();
    long now = parts.clock().epochSeconds();
    if (standIn != null && standIn.facts().mayServeOnError(demands, now)) {
      fetches.fetchPerhaps(exchange, demands, key.copy(), forwarding, standIn);
    } else {
      StoreServer.release(standIn);
      pass(exchange, demands, pass, forwarding);
    }
  }

  /** Passes it on: to the owner if that one may have the whole, which would answer it. */
  private void pass(Exchange exchange, CacheControl demands, Pass pass, Forwarding forwarding) {
    RequestHead request = exchange.request();
    boolean isOfWhole = request.method() == Method.HEAD || request.fields().has(FieldName.RANGE);
    if (isOfWhole && pass.cause() != Cause.RULE && !demands.has(Directive.NO_STORE)) {
      fetches.passToOwner(exchange, forwarding);
    } else {
      fetches.pass(exchange, forwarding);
    }
  }

  /** Whether what is stored answers the request at all, if it may stand in for an error. */
  private static boolean mayStandIn(RequestHead request, Pass pass, StoredResponse stored) {
    return switch (pass.cause()) {
      case UNSTORABLE -> true;
      case RULE -> stored.codedFormFor(request) != stored;
      case FOR_THE_ORIGIN, PART_OF_THE_WHOLE -> !CacheDecisions.isForTheOriginAlone(request);
    };
  }

  // Toward the origin

  /**
   * Asks the origin.
   *
   * @param demands the request's directives
   * @param key borrowed
   * @param stored what is asked about, or may serve in place of an error; or null. Takes over one
   *     lease
   * @param like which request fields select, as far as that is known
   */
  private void ask(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      Ask ask,
      @Nullable StoredResponse stored,
      @Nullable SelectingFields like,
      Wait wait) {
    switch (ask.way()) {
      case PERHAPS -> {
        Forwarding forwarding = new Forwarding(ask.reason());
        fetches.fetchPerhaps(exchange, demands, key.copy(), forwarding, stored);
      }
      case COLLAPSE -> leadOrFollow(exchange, demands, key, ask, stored, like, wait);
      case FRESHEN, ALONE -> fetch(exchange, demands, key.copy(), ask, null, stored);
    }
  }

  private void fetch(
      Exchange exchange,
      CacheControl demands,
      CacheKey own,
      Ask ask,
      @Nullable InFlight flight,
      @Nullable StoredResponse stored) {
    fetches.fetch(exchange, demands, own, ask.reason(), flight, stored, ask.isValidation());
  }

  /** What tells which request fields will select the response; null if nothing does. */
  private static @Nullable SelectingFields like(
      Wait wait, @Nullable StoredResponse stored, @Nullable Variants variants) {
    if (wait.selecting() != null) {
      return wait.selecting();
    }
    if (stored != null) {
      return stored.selecting();
    }
    return variants == null ? null : variants.at(0).selecting();
  }

  /**
   * Collapses the request with those for the same variant. Takes over one lease on {@code stored}.
   */
  private void leadOrFollow(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      Ask ask,
      @Nullable StoredResponse stored,
      @Nullable SelectingFields like,
      Wait wait) {
    while (true) {
      InFlight flight = parts.flights().find(key, exchange.request(), demands.isCutOff());
      if (flight == null) {
        CacheKey own = key.copy();
        InFlight begun =
            parts
                .flights()
                .begin(own, exchange.request(), like, exchange.loop(), demands.isCutOff());
        if (begun != null) {
          lead(exchange, demands, own, begun, ask, stored);
          return;
        }
      } else if (flight.isLate() && stored != null && mayStandInLate(demands, stored)) {
        Forwarding told = new Forwarding(ask.reason()).collapsed();
        if (!wait.isBegun()) {
          route.counters().count(Event.COLLAPSED);
        }
        route.server().serveLate(exchange, stored, told);
        return;
      } else if (Follower.follow(
          exchange, flight, ask.reason(), route.cacheStatus(), fallback, going(wait))) {
        StoreServer.release(stored);
        exchange.notes().mark(TraceStep.COLLAPSE, "waits for another request");
        if (!wait.isBegun()) {
          route.counters().count(Event.COLLAPSED);
        }
        return;
      }
    }
  }

  private boolean mayStandInLate(CacheControl demands, StoredResponse stored) {
    long now = parts.clock().epochSeconds();
    return StoreServer.mayStandInLate(settings, stored, demands, now);
  }

  private Wait going(Wait wait) {
    return wait.going(parts.clock().nanos(), COLLAPSE_WAIT_NANOS);
  }

  /** Forwards the request, unless the one before it has just brought what it wants. */
  private void lead(
      Exchange exchange,
      CacheControl demands,
      CacheKey key,
      InFlight flight,
      Ask ask,
      @Nullable StoredResponse stored) {
    exchange.notes().mark(TraceStep.COLLAPSE, "leads");
    long now = parts.clock().epochSeconds();
    RequestHead request = exchange.request();
    StoredResponse newer = StoreServer.selected(parts.store().peek(key), request, now);
    if (newer != null
        && newer != stored
        && ReuseRule.of(request, demands, newer.facts(), now).decision(demands, null)
            == Decision.SERVE) {
      StoreServer.release(stored);
      flight.freshened();
      route.server().serve(exchange, parts.loops().current(), key, newer, false, now);
      return;
    }
    StoreServer.release(newer);
    fetch(exchange, demands, key, ask, flight, stored);
  }

  /** What becomes of requests that have waited in vain. */
  private final class Fallback implements FollowerFallback {

    @Override
    public void lookAgain(Exchange exchange, Wait wait) {
      lookUp(exchange, wait, null, false);
    }

    @Override
    public void failed(Exchange exchange, Forwarding forwarding, Failure why) {
      RequestHead request = exchange.request();
      CacheKey key = parts.loops().current().probe().keyOf(request);
      long now = parts.clock().epochSeconds();
      StoredResponse stored = StoreServer.selected(parts.store().peek(key), request, now);
      CacheControl demands = parts.demandsOf(request);
      route.server().fail(exchange, demands, stored, forwarding, why);
    }

    @Override
    public void brokenOffSlow() {
      route.counters().count(Event.BROKEN_OFF_SLOW);
    }
  }

  // The disk

  /**
   * Lets a request that memory cannot answer wait until the disk was read; whether it does. It does
   * not if the response is on its way: what comes is newer. Borrows the key.
   */
  private boolean waitForDisk(Exchange exchange, LoopState loop, CacheKey key) {
    DiskLookups lookups = parts.lookups();
    return lookups != null
        && parts.flights().find(key, exchange.request()) == null
        && lookups.hold(exchange, key, loop.home(), this::afterDisk);
  }

  /**
   * What was read from the disk, or has become of it in memory, if this request can use it. Takes
   * over one lease on {@code read}; the caller owns one on what is returned.
   *
   * @param stored what memory has for the request by now, or null; the caller's lease stays
   */
  private @Nullable StoredResponse usable(
      Exchange exchange, @Nullable StoredResponse stored, StoredResponse read) {
    if (stored != null && stored.isSameContent(read)) {
      read.release();
      return stored;
    }
    if (stored == null
        && read.answers(exchange.request())
        && parts.store().isUnpurged(read)
        && (!read.content().isInFile() || takesFiles(exchange))) {
      return read;
    }
    read.release();
    return null;
  }

  /** Whether the client takes content from a file, or none. */
  private static boolean takesFiles(Exchange exchange) {
    return exchange.request().method() == Method.HEAD || exchange.reply().takesRegions();
  }
}
