package io.kamille.cache.serve;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.serve.CacheCounters.Event;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.Store;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import org.jspecify.annotations.Nullable;

/**
 * Answers without an origin: with stored responses, also in place of errors, and with 504 where the
 * client takes nothing else. Any loop.
 */
public final class StoreServer {

  private final Store store;
  private final LoopStates loops;
  private final WallClock clock;
  private final StoredReply replies;
  private final CacheStatus cacheStatus;

  /**
   * For one route.
   *
   * @param sendfileFromBytes content that long, or longer, may go to clients by sendfile
   */
  public StoreServer(
      Store store,
      LoopStates loops,
      WallClock clock,
      long sendfileFromBytes,
      CacheStatus cacheStatus) {
    this.store = store;
    this.loops = loops;
    this.clock = clock;
    this.replies = new StoredReply(cacheStatus, sendfileFromBytes);
    this.cacheStatus = cacheStatus;
  }

  /** The response that a request selects, with a lease that the caller owns; or null. */
  public static @Nullable StoredResponse selected(
      @Nullable Variants variants, RequestHead request, long now) {
    StoredResponse response = variants == null ? null : variants.select(request, now);
    return response != null && response.tryRetain() ? response : null;
  }

  /** Ends the lease on a response, if there is one. */
  public static void release(@Nullable StoredResponse stored) {
    if (stored != null) {
      stored.release();
    }
  }

  /**
   * Answers with a stored response. Borrows the key; takes over one lease on the response.
   *
   * @param isFromDisk whether it was read from the disk for this request
   */
  public void serve(
      Exchange exchange,
      LoopState loop,
      CacheKey key,
      StoredResponse stored,
      boolean isFromDisk,
      long now) {
    boolean isFresh = stored.facts().isFresh(now);
    loop.counters().count(isFresh ? Event.FRESH_HIT : Event.STALE_HIT);
    stored.countHit(now);
    store.asked(key, stored, now);
    Forwarding told = null;
    if (isFromDisk) {
      loop.runsOn(exchange.loop());
      told = Forwarding.readFromDisk(stored.facts().ttlSeconds(now));
    }
    exchange.notes().cache(isFresh ? CacheResult.HIT : CacheResult.STALE_HIT);
    exchange.notes().topics(stored.facts().tags());
    replies.send(loop, exchange.request(), exchange.reply(), stored, now, told);
  }

  /**
   * Whether a stored response may be the answer in place of an error: RFC 5861 §4, for every error
   * on every way. If so, {@code told} says so.
   *
   * @param demands the request's directives
   */
  public boolean mayStandIn(
      StoredResponse stored, CacheControl demands, Forwarding told, long now) {
    boolean mayStandIn = stored.facts().mayServeOnError(demands, now);
    if (mayStandIn) {
      told.detail("stale-if-error");
    }
    return mayStandIn;
  }

  /** Whether it may answer because the origin is slow, which is an error that has not come yet. */
  public static boolean mayStandInLate(
      CacheSettings settings, StoredResponse stored, CacheControl demands, long now) {
    return !settings.policy().stale().after().isZero()
        && stored.facts().mayServeOnError(demands, now);
  }

  /** Answers with it because the origin is slow. Takes over one lease. */
  public void serveLate(Exchange exchange, StoredResponse stored, Forwarding told) {
    serveInstead(exchange, stored, CacheResult.STALE_HIT, told.detail("stale-after"));
  }

  /** Answers with a stored response after all. Takes over one lease. */
  public void serveInstead(
      Exchange exchange, StoredResponse stored, CacheResult result, Forwarding told) {
    long now = clock.epochSeconds();
    LoopState loop = loops.current();
    exchange.notes().cache(result);
    loop.runsOn(exchange.loop());
    told.ttl(stored.facts().ttlSeconds(now)).by(stored.facts().freshness());
    replies.send(loop, exchange.request(), exchange.reply(), stored, now, told);
  }

  /**
   * Answers although there is no answer from the origin: with a stored response if it {@linkplain
   * #mayStandIn may stand in}, else with the failure.
   *
   * @param demands the request's directives
   * @param stored or null; takes over one lease
   */
  public void fail(
      Exchange exchange,
      CacheControl demands,
      @Nullable StoredResponse stored,
      Forwarding told,
      Failure why) {
    long now = clock.epochSeconds();
    if (stored == null || !mayStandIn(stored, demands, told, now)) {
      release(stored);
      if (told.isForwarded()) {
        exchange.notes().cacheStatus(cacheStatus.member(told));
      }
      exchange.reply().fail(why);
      return;
    }
    boolean isFresh = stored.facts().isFresh(now);
    if (!told.isForwarded()) {
      loops.current().counters().count(isFresh ? Event.FRESH_HIT : Event.STALE_HIT);
    }
    CacheResult result = isFresh ? CacheResult.HIT : CacheResult.STALE_HIT;
    serveInstead(exchange, stored, result, told);
  }

  /** Answers a request that may not be forwarded: nothing usable is stored (RFC 9111 §5.2.1.7). */
  public void refuse(Exchange exchange) {
    Forwarding told = new Forwarding(ForwardReason.MISS).detail("only-if-cached");
    exchange.notes().cacheStatus(cacheStatus.member(told));
    exchange
        .reply()
        .fail(
            new Failure(
                ErrorType.PROXY_INTERNAL_RESPONSE,
                StatusCode.GATEWAY_TIMEOUT,
                "only-if-cached, and nothing usable is stored"));
  }
}
