package io.kamille.cache.station;

import io.kamille.cache.coding.Coder;
import io.kamille.cache.decision.CacheExplainer;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.decision.ForwardWay;
import io.kamille.cache.fill.Fetches;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.fill.Wait;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.removal.Removals;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.Cookies;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReusePlan;
import io.kamille.cache.rules.ReusePlan.Forward;
import io.kamille.cache.rules.ReusePlan.Refuse;
import io.kamille.cache.rules.ReusePlan.Serve;
import io.kamille.cache.rules.ReusePlan.ServeStale;
import io.kamille.cache.rules.ReusePlan.Validate;
import io.kamille.cache.rules.ReusePlanner;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.LoopState;
import io.kamille.cache.serve.LoopStates;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.DiskLookups;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import org.jspecify.annotations.Nullable;

/**
 * The cache on a request's way: answers from the store what it may, and hands on what it must (RFC
 * 9111 §4). Any loop.
 */
public final class CacheHandler implements ExchangeHandler {

  /*
   * A request comes here at the start, after a detour to the disk, and when those it waited for
   * were of no help. It is looked up anew each time, since the store may have changed meanwhile.
   * What the store cannot answer goes on by the MissPath, what the cache has no say in by the
   * CacheBypass.
   */
  private final TieredStore store;
  private final InFlightTable flights;
  private final LoopStates loops;
  private final CacheSettings settings;
  private final WallClock clock;
  private final Coder coder;
  private final Fetches fetches;
  private final StoredAnswers answers;
  private final OriginGate gate;
  private final CacheBypass bypass;
  private final DiskDetour disk;
  private final MissPath misses;

  /**
   * A handler for one route.
   *
   * @param lookups who reads the disk; null if there is none
   * @param forwardGate asked about every request that what is stored does not answer
   */
  public CacheHandler(
      ExchangeHandler next,
      TieredStore store,
      @Nullable DiskLookups lookups,
      InFlightTable flights,
      Removals removals,
      Coder coder,
      LoopStates loops,
      CacheSettings settings,
      RouteGate forwardGate,
      long sendfileFromBytes,
      WallClock clock) {
    this.store = store;
    this.coder = coder;
    this.flights = flights;
    this.loops = loops;
    this.settings = settings;
    this.clock = clock;
    CacheStatus cacheStatus = CacheStatus.of(settings.statusName(), settings.showsKey());
    StoredReply replies = new StoredReply(cacheStatus, sendfileFromBytes);
    this.fetches =
        new Fetches(
            next,
            store,
            flights,
            removals::invalidate,
            coder,
            replies,
            cacheStatus,
            loops,
            settings.fill(),
            clock);
    this.answers = new StoredAnswers(store, replies, cacheStatus);
    this.gate = new OriginGate(forwardGate, answers, cacheStatus, loops, clock);
    this.bypass = new CacheBypass(fetches, gate, answers, "");
    this.disk = new DiskDetour(store, flights, lookups, this::afterDisk);
    this.misses =
        new MissPath(
            store,
            flights,
            fetches,
            answers,
            gate,
            cacheStatus,
            loops,
            settings,
            clock,
            this::afterWait);
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
    return new CacheBypass(fetches, gate, answers, why);
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

  @Override
  public void handle(Exchange exchange) {
    look(exchange, Wait.NotBegun.NOT_BEGUN, null, true);
  }

  /** A request has waited in vain for another one's response. */
  private void afterWait(Exchange exchange, Wait wait) {
    look(exchange, wait, null, false);
  }

  /** The disk was read for a request. Takes over one lease on what was found, if anything was. */
  private void afterDisk(Exchange exchange, @Nullable StoredResponse read) {
    exchange.notes().mark(TraceStep.DISK, read == null ? "not on the disk" : "read");
    look(exchange, Wait.NotBegun.NOT_BEGUN, read, false);
  }

  /**
   * Looks a request up and does with it what is right.
   *
   * @param read what was read from the disk for its key; takes over one lease
   * @param mayReadDisk whether the request may wait for the disk
   */
  private void look(
      Exchange exchange, Wait wait, @Nullable StoredResponse read, boolean mayReadDisk) {
    if (isPassed(exchange)) {
      StoredAnswers.release(read);
      return;
    }
    RequestHead request = exchange.request();
    LoopState loop = loops.current();
    loop.queries().apply(settings.query(), request);
    CacheKey key = loop.probe().keyOf(request);
    Variants variants = store.find(key);
    long now = clock.epochSeconds();
    StoredResponse stored = StoredAnswers.selected(variants, request, now);
    ExchangeNotes notes = exchange.notes();
    notes.mark(TraceStep.LOOKUP, found(variants, stored));
    StoredResponse usable = read == null ? null : disk.usable(exchange, stored, read);
    if (usable != null) {
      stored = usable;
      if (!usable.content().isInFile()) {
        coder.submit(key.copy(), usable, settings.coding());
      }
    } else if (stored == null && mayReadDisk && disk.takes(exchange, loop, key)) {
      notes.mark(TraceStep.DISK, "waits for the disk");
      return;
    }
    if (settings.coding().isOn() && AcceptedCodings.refuseIdentity(request.fields())) {
      useCoded(exchange, loop, key, stored, now, wait, usable != null);
    } else if (stored != null) {
      use(exchange, loop, key, stored, now, wait, usable != null);
    } else if (ReusePlanner.planMiss(request, variants != null) instanceof Forward miss) {
      misses.forward(exchange, key, miss.reason(), null, wait);
    } else {
      answers.refuse(exchange);
    }
  }

  private static String found(@Nullable Variants variants, @Nullable StoredResponse stored) {
    if (stored != null) {
      return "stored";
    }
    return variants == null ? "nothing stored" : "stored for other requests";
  }

  /** Whether the request bypasses the cache; then it is on its way. */
  private boolean isPassed(Exchange exchange) {
    RequestHead request = exchange.request();
    Forward passed = ReusePlanner.bypass(request);
    if (passed != null) {
      exchange.notes().mark(TraceStep.DECISION, "bypasses the cache");
      bypass.passBy(exchange, new Forwarding(passed.reason()));
      return true;
    }
    if (Cookies.has(request.fields(), settings.bypassCookies())) {
      exchange.notes().mark(TraceStep.DECISION, "bypasses the cache for a cookie");
      bypass.passBy(exchange, new Forwarding(ForwardReason.BYPASS).detail("cookie"));
      return true;
    }
    return false;
  }

  /** Does with a stored response what is right. Takes over one lease on it. */
  private void use(
      Exchange exchange,
      LoopState loop,
      CacheKey key,
      StoredResponse stored,
      long now,
      Wait wait,
      boolean isFromDisk) {
    ReusePlan plan = ReusePlanner.plan(exchange.request(), stored.facts(), now);
    exchange.notes().mark(TraceStep.DECISION, word(plan));
    if (stored.content().isInFile()) {
      useFromFile(exchange, loop, key, stored, now, plan);
      return;
    }
    switch (plan) {
      case Serve.SERVE -> {
        if (settings.background().isDue(exchange.request(), stored.facts(), now)) {
          fetches.validateInBackground(exchange, key.copy(), stored);
        }
        serve(exchange, loop, key, stored, now, isFromDisk);
      }
      case ServeStale.SERVE_STALE -> {
        fetches.validateInBackground(exchange, key.copy(), stored);
        serve(exchange, loop, key, stored, now, isFromDisk);
      }
      case Validate validate -> misses.validate(exchange, key, validate.reason(), stored, wait);
      case Forward forward -> misses.forward(exchange, key, forward.reason(), stored, wait);
      case Refuse.REFUSE -> {
        stored.release();
        answers.refuse(exchange);
      }
    }
  }

  private static String word(ReusePlan plan) {
    return switch (plan) {
      case Serve.SERVE -> "serve";
      case ServeStale.SERVE_STALE -> "serve stale";
      case Validate _ -> "validate";
      case Forward _ -> "forward";
      case Refuse.REFUSE -> "refuse";
    };
  }

  /**
   * Does with a response that stays on the disk what is right: nothing is stored beside it that
   * could be freshened, so one that is stale is fetched anew, and stands in if that fails.
   */
  private void useFromFile(
      Exchange exchange,
      LoopState loop,
      CacheKey key,
      StoredResponse lent,
      long now,
      ReusePlan plan) {
    Wait wait = Wait.NotBegun.NOT_BEGUN;
    switch (plan) {
      case Serve.SERVE -> answers.serveFromDisk(exchange, loop, key, lent, now);
      case ServeStale.SERVE_STALE -> misses.forward(exchange, key, ForwardReason.STALE, lent, wait);
      case Validate validate -> misses.forward(exchange, key, validate.reason(), lent, wait);
      case Forward forward -> misses.forward(exchange, key, forward.reason(), lent, wait);
      case Refuse.REFUSE -> {
        lent.release();
        answers.refuse(exchange);
      }
    }
  }

  private void serve(
      Exchange exchange,
      LoopState loop,
      CacheKey key,
      StoredResponse stored,
      long now,
      boolean isFromDisk) {
    if (isFromDisk) {
      answers.serveFromDisk(exchange, loop, key, stored, now);
    } else {
      answers.serve(exchange, loop, key, stored, now);
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
      Wait wait,
      boolean isFromDisk) {
    RequestHead request = exchange.request();
    if (stored != null && ForwardWay.mayServeCoded(request, stored, now)) {
      use(exchange, loop, key, stored, now, wait, isFromDisk);
      return;
    }
    StoredResponse coded = stored != null && stored.formFor(request) != stored ? stored : null;
    if (coded == null) {
      StoredAnswers.release(stored);
    }
    if (CacheControl.ofRequest(request.fields()).isOnlyIfCached()) {
      StoredAnswers.release(coded);
      answers.refuse(exchange);
    } else if (!gate.isRefused(exchange, coded)) {
      StoredAnswers.release(coded);
      fetches.pass(exchange, new Forwarding(ForwardReason.BYPASS).detail("identity-refused"));
    }
  }
}
