package io.kamille.cache.station;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.LoopState;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * The answers that need no origin: stored responses, and 504 where the client takes nothing else.
 * Any loop.
 */
final class StoredAnswers {

  private final TieredStore store;
  private final StoredReply replies;
  private final CacheStatus cacheStatus;

  StoredAnswers(TieredStore store, StoredReply replies, CacheStatus cacheStatus) {
    this.store = store;
    this.replies = replies;
    this.cacheStatus = cacheStatus;
  }

  /** The response that a request selects, with a lease that the caller owns; or null. */
  static @Nullable StoredResponse selected(
      @Nullable Variants variants, RequestHead request, long now) {
    StoredResponse response = variants == null ? null : variants.select(request, now);
    return response != null && response.tryRetain() ? response : null;
  }

  /** Whether a stored response may be the answer in place of an error (RFC 5861 §4). */
  static boolean mayServeOnError(RequestHead request, StoredResponse stored, long now) {
    return stored.facts().mayServeOnError(CacheControl.ofRequest(request.fields()), now);
  }

  /** Ends the lease on a response, if there is one. */
  static void release(@Nullable StoredResponse stored) {
    if (stored != null) {
      stored.release();
    }
  }

  /** Answers with a stored response. Borrows the key; takes over one lease on the response. */
  void serve(Exchange exchange, LoopState loop, CacheKey key, StoredResponse stored, long now) {
    count(exchange, loop, key, stored, now);
    replies.send(loop, exchange.request(), exchange.reply(), stored, now, null);
  }

  /** The same, when the response was read from the disk for this request. */
  void serveFromDisk(
      Exchange exchange, LoopState loop, CacheKey key, StoredResponse stored, long now) {
    count(exchange, loop, key, stored, now);
    loop.runsOn(exchange.loop());
    Forwarding read = Forwarding.readFromDisk(stored.facts().ttlSeconds(now));
    RequestHead request = exchange.request();
    replies.send(loop, request, exchange.reply(), stored, now, cacheStatus.keyed(read, request));
  }

  private void count(
      Exchange exchange, LoopState loop, CacheKey key, StoredResponse stored, long now) {
    loop.counters().hit(stored.facts().isFresh(now));
    stored.countHit();
    store.asked(key, stored, now);
    note(exchange, stored, now);
  }

  /** Answers with what is stored in place of an error (RFC 5861 §4). Takes over one lease on it. */
  void serveOnError(
      Exchange exchange, LoopState loop, StoredResponse stored, long now, Forwarding told) {
    note(exchange, stored, now);
    loop.runsOn(exchange.loop());
    replies.send(loop, exchange.request(), exchange.reply(), stored, now, told);
  }

  private static void note(Exchange exchange, StoredResponse stored, long now) {
    boolean isFresh = stored.facts().isFresh(now);
    exchange.notes().cache(isFresh ? CacheResult.HIT : CacheResult.STALE_HIT);
  }

  /** Answers a request that may not be forwarded: nothing usable is stored (RFC 9111 §5.2.1.7). */
  void refuse(Exchange exchange) {
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
}
