package io.kamille.cache.fill;

import io.kamille.cache.coding.CarriedForms;
import io.kamille.cache.coding.Coder;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.serve.CacheCounters;
import io.kamille.cache.serve.CacheCounters.Event;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.PassingHeads;
import io.kamille.cache.serve.StoreServer;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.Store;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One route of the cache: its settings, and what it shares with the others. Any loop. */
public final class CacheRoute {

  private static final long POSTPONED_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A response that could not be shared is tried again then: it costs one round trip. */
  private static final long UNCACHABLE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final CacheParts parts;
  private final CacheSettings settings;
  private final PassingHeads heads;
  private final StoreServer server;
  private final RouteGate gate;

  /**
   * A route.
   *
   * @param name what it calls itself
   * @param gate asked once about every request that what is stored does not answer
   */
  public CacheRoute(CacheParts parts, CacheSettings settings, String name, RouteGate gate) {
    this.parts = parts;
    this.settings = settings;
    this.gate = gate;
    CacheStatus cacheStatus = new CacheStatus(name);
    this.heads = new PassingHeads(settings, cacheStatus);
    this.server =
        new StoreServer(
            parts.store(), parts.loops(), parts.clock(), parts.sendfileFromBytes(), cacheStatus);
    Coder.prepare(settings.coding());
  }

  public CacheParts parts() {
    return parts;
  }

  public CacheSettings settings() {
    return settings;
  }

  /** How long a head may take before what is stored answers. */
  Duration staleAfter() {
    return settings.policy().stale().after();
  }

  public CacheStatus cacheStatus() {
    return heads.status();
  }

  PassingHeads heads() {
    return heads;
  }

  public StoreServer server() {
    return server;
  }

  Store store() {
    return parts.store();
  }

  long epochSeconds() {
    return parts.clock().epochSeconds();
  }

  /** That of the calling loop. */
  public CacheCounters counters() {
    return parts.loops().current().counters();
  }

  int home() {
    return parts.loops().current().home();
  }

  /** Where the calling loop puts a head together that is to be stored: empty, and lent. */
  ByteBuf headOctets() {
    return parts.loops().current().headOctets();
  }

  /**
   * Answers a request that the gate does not let on, by an error or what is stored in its place.
   *
   * @param demands the request's directives
   * @param stale what may stand in for an error, or null; if this answers, it ends one lease
   * @return whether it has answered
   */
  public boolean turnAway(Exchange exchange, CacheControl demands, @Nullable StoredResponse stale) {
    Failure refusal = gate.refusal(exchange);
    if (refusal == null) {
      return false;
    }
    StoredResponse standIn = StoredFacts.isError(refusal.status()) ? stale : null;
    if (standIn == null) {
      StoreServer.release(stale);
    }
    server.fail(exchange, demands, standIn, Forwarding.unforwarded(), refusal);
    return true;
  }

  // What becomes of fetches

  /** The origin's answer to a fetch began. */
  void answered(Fetch fetch) {
    PeakWatch peak = parts.store().peak();
    if (peak != null) {
      peak.originAnswered(parts.clock().nanos() - fetch.forwardedNanos());
    }
  }

  /** Whether something under that key is no error and may still be used. */
  boolean hasGood(CacheKey key, long now) {
    Variants variants = store().peek(key);
    for (int i = 0; variants != null && i < variants.size(); i++) {
      if (variants.at(i).facts().isGood(now)) {
        return true;
      }
    }
    return false;
  }

  /** Begins to store a response, or null if there is no memory. */
  @Nullable Fill beginFill(Fetch fetch, Fill.Head head, long contentLength) {
    long limit = settings.maxObjectBytes();
    Fill fill = Fill.begin(store(), fetch, head, contentLength, limit, home());
    if (fill == null) {
      counters().count(Event.SHORTAGE);
    } else {
      fetch.exchange().notes().mark(TraceStep.STORE, "is being stored");
    }
    return fill;
  }

  /** Whether what these fields select will take the place of another variant. */
  boolean displaces(CacheKey key, SelectingFields selecting) {
    Variants variants = selecting.isEmpty() ? null : store().peek(key);
    return variants != null
        && variants.size() >= store().index().variantLimit()
        && variants.selectedBy(selecting) == null;
  }

  /**
   * Makes a response visible, or leaves it to those who read along; the caller owns one lease on
   * it.
   */
  StoredResponse complete(Fetch fetch, Fill fill, boolean isKept) {
    parts.flights().cachable(fetch.key(), fetch.request());
    StoredResponse stored = fill.complete(isKept);
    if (isKept) {
      counters().count(Event.FILL_STORED);
      try {
        stored(fetch, stored);
        code(fetch, stored);
      } catch (RuntimeException | Error fault) {
        stored.release();
        throw fault;
      }
    }
    return stored;
  }

  /**
   * Tells those who wait for another answer of what has just been stored, if it is found and may be
   * reused. Borrows it.
   */
  void stored(Fetch fetch, StoredResponse stored) {
    Variants variants = store().peek(fetch.key());
    StoredResponse found = variants == null ? null : variants.sameContent(stored);
    if (found != null && found.facts().isReusable(epochSeconds())) {
      parts.flights().stored(fetch.key(), found.selecting());
    }
  }

  /** Sees to the content codings of what has just been stored. Borrows it. */
  void code(Fetch fetch, StoredResponse stored) {
    parts.coder().submit(fetch.key(), stored, settings.coding());
  }

  /** The same for what has got a new head: gives it with the forms it has. Borrows it. */
  StoredResponse carry(Fetch fetch, CarriedForms forms, StoredResponse freshened) {
    return parts.coder().carry(fetch.key(), forms, freshened, settings.coding(), home());
  }

  void abandon(Fill fill) {
    counters().count(Event.FILL_ABANDONED);
    fill.abandon();
  }

  /** Leaves the key alone in the background for a while, after a failure. */
  void postpone(Fetch fetch) {
    parts.flights().postpone(fetch.key(), POSTPONED_NANOS);
  }

  /** Has nobody wait for what is probably another error, for a moment. */
  void failing(Fetch fetch) {
    parts.flights().uncachable(fetch.key(), fetch.request(), POSTPONED_NANOS);
  }

  /** Remembers that waiting for what this fetch has brought is no use, for a while. */
  void uncachable(Fetch fetch) {
    parts.flights().uncachable(fetch.key(), fetch.request(), UNCACHABLE_NANOS);
  }

  /** Says in Cache-Status why an answer is not stored, and remembers it. */
  void refused(Fetch fetch, int status, Storability why) {
    fetch.forwarding().detail(why.detail());
    fetch.exchange().notes().mark(TraceStep.STORE, why.detail());
    remember(fetch, status, why);
  }

  /** Remembers why an answer was not stored, for those who ask. */
  void remember(Fetch fetch, int status, Storability why) {
    parts.flights().refused(fetch.key(), status, why);
  }

  /** Sends a stored response after all. Takes over one lease. */
  void serve(Fetch fetch, StoredResponse stored, int originStatus) {
    boolean isFreshened = originStatus == StatusCode.NOT_MODIFIED;
    CacheResult result = isFreshened ? CacheResult.REVALIDATED : CacheResult.STALE_HIT;
    server.serveInstead(fetch.exchange(), stored, result, fetch.forwarding().status(originStatus));
  }
}
