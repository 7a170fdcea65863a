package io.kamille.cache.fill;

import io.kamille.cache.coding.CarriedForms;
import io.kamille.cache.coding.Coder;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CodingRules;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.LoopState;
import io.kamille.cache.serve.LoopStates;
import io.kamille.cache.serve.ReplyHandover;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the fetches of one route have in common: its settings, the store, and what is remembered of
 * keys. Any loop.
 */
final class RouteFills {

  private static final long POSTPONED_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TieredStore store;
  private final InFlightTable flights;
  private final Coder coder;
  private final StoredReply replies;
  private final CacheStatus cacheStatus;
  private final LoopStates loops;
  private final FillSettings settings;
  private final WallClock clock;

  RouteFills(
      TieredStore store,
      InFlightTable flights,
      Coder coder,
      StoredReply replies,
      CacheStatus cacheStatus,
      LoopStates loops,
      FillSettings settings,
      WallClock clock) {
    this.store = store;
    this.flights = flights;
    this.coder = coder;
    this.replies = replies;
    this.cacheStatus = cacheStatus;
    this.loops = loops;
    this.settings = settings;
    this.clock = clock;
  }

  long epochSeconds() {
    return clock.epochSeconds();
  }

  FillSettings settings() {
    return settings;
  }

  CachePolicy policy() {
    return settings.policy();
  }

  /** The origin's answer to a fetch began. */
  void answered(Fetch fetch) {
    PeakWatch peak = store.peak();
    if (peak != null) {
      peak.originAnswered(clock.nanos() - fetch.forwardedNanos());
    }
  }

  /** Makes a head that came from the origin one that this route works with and passes on. */
  void received(RequestHead request, ResponseHead head) {
    cacheStatus.received(head.fields());
    if (request.method() == Method.HEAD || head.status() == StatusCode.NOT_MODIFIED) {
      settings.varyBy().addToUpdate(head.fields());
    } else {
      settings.varyBy().addTo(head.fields());
    }
  }

  CodingRules coding() {
    return settings.coding();
  }

  CacheStatus cacheStatus() {
    return cacheStatus;
  }

  TieredStore store() {
    return store;
  }

  LoopStates loops() {
    return loops;
  }

  /** Whether a response is worth what has to be forgotten for it. */
  boolean pays(Fetch fetch, FillHead head, long contentLength) {
    return Fill.pays(store, fetch, head, contentLength);
  }

  /** Begins to store a response, or null if there is no memory. */
  @Nullable Fill beginFill(Fetch fetch, FillHead head, long contentLength) {
    long limit = settings.maxObjectBytes();
    Fill fill = Fill.begin(store, fetch, head, contentLength, limit, loops.current().home());
    if (fill == null) {
      loops.current().counters().shortage();
    } else {
      fetch.exchange().notes().mark(TraceStep.STORE, "is being stored");
    }
    return fill;
  }

  /** Makes a response visible; the caller owns one lease on it. */
  StoredResponse complete(Fetch fetch, Fill fill) {
    flights.cachable(fetch.key(), fetch.request());
    loops.current().counters().filled(true);
    StoredResponse stored = fill.complete();
    code(fetch, stored);
    return stored;
  }

  /** Sees to the content codings of what has just been stored. Borrows it. */
  void code(Fetch fetch, StoredResponse stored) {
    coder.submit(fetch.key(), stored, settings.coding());
  }

  /** The same for what has got a new head: gives it with the forms it has. Borrows it. */
  StoredResponse carry(Fetch fetch, CarriedForms forms, StoredResponse freshened) {
    return coder.carry(fetch.key(), forms, freshened, settings.coding(), loops.current().home());
  }

  void abandon(Fill fill) {
    loops.current().counters().filled(false);
    fill.abandon();
  }

  /** Leaves the key alone in the background for a while, after a failure. */
  void postpone(Fetch fetch) {
    flights.postpone(fetch.key(), POSTPONED_NANOS);
  }

  /** Remembers that waiting for what this fetch has brought is no use, for a while. */
  void uncachable(Fetch fetch) {
    flights.uncachable(fetch.key(), fetch.request(), settings.uncachableNanos());
  }

  /** Says in Cache-Status why an answer is not stored, and remembers it. */
  void refused(Fetch fetch, int status, String detail, String explanation) {
    fetch.forwarding().detail(detail);
    fetch.exchange().notes().mark(TraceStep.STORE, detail);
    remember(fetch, status, detail, explanation);
  }

  /** Remembers why an answer was not stored, for those who ask. */
  void remember(Fetch fetch, int status, String detail, String explanation) {
    flights.refused(fetch.key(), status, detail, explanation);
  }

  /** Sends a stored response after all. Takes over one lease. */
  void serve(Fetch fetch, ReplyHandover client, StoredResponse stored, int originStatus) {
    long now = clock.epochSeconds();
    Forwarding forwarding = fetch.forwarding().status(originStatus);
    boolean isFresh = originStatus == 304;
    fetch.exchange().notes().cache(isFresh ? CacheResult.REVALIDATED : CacheResult.STALE_HIT);
    LoopState loop = loops.current();
    loop.runsOn(fetch.exchange().loop());
    replies.send(
        loop,
        fetch.request(),
        client,
        stored,
        now,
        forwarding.ttl(stored.facts().ttlSeconds(now)).by(stored.facts().freshness()));
  }
}
