package io.kamille.cache.decision;

import io.kamille.cache.decision.CacheDecision.Ask;
import io.kamille.cache.decision.CacheDecision.Pass;
import io.kamille.cache.fill.Fetches;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.Freshness;
import io.kamille.cache.rules.Preconditions;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.OwnHeads;
import io.kamille.cache.serve.PassingHeads;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;

/**
 * A route's cache with nothing in it, made of settings alone: what it would decide, and make of the
 * response. It asks what a real one asks. Any thread, one at a time.
 */
public final class ColdCache {

  private final CacheSettings settings;
  private final WallClock clock;
  private final CacheDecisions decisions;
  private final PassingHeads heads;

  /**
   * The cache of a route.
   *
   * @param name what it calls itself in {@code Cache-Status}
   */
  public ColdCache(CacheSettings settings, WallClock clock, String name) {
    this.settings = settings;
    this.clock = clock;
    this.decisions = new CacheDecisions(settings, new InFlightTable(clock, new PurgeTable()));
    this.heads = new PassingHeads(settings, new CacheStatus(name));
  }

  /** What would become of the request, which it borrows. */
  public Explanation explain(RequestHead request) {
    CacheControl demands = CacheControl.ofRequest(request.fields());
    return new CacheExplainer(decisions, null, clock, request, demands).explain();
  }

  /** Whether the request bypasses it, whatever is stored. */
  public boolean isBypassed(RequestHead request) {
    return decisions.beforeLookup(request, CacheControl.ofRequest(request.fields())) != null;
  }

  /** The request as it is looked up: with the query that counts. */
  public RequestHead filtered(RequestHead request) {
    return isBypassed(request) ? request : QueryFilter.filtered(settings.query(), request);
  }

  private CacheDecision decision(RequestHead filtered) {
    CacheControl demands = CacheControl.ofRequest(filtered.fields());
    CacheDecision early = decisions.beforeLookup(filtered, demands);
    return early == null
        ? decisions.afterLookup(
            filtered, demands, CacheKey.of(filtered), false, null, true, clock.epochSeconds())
        : early;
  }

  /** What the origin is asked for a request. */
  public RequestHead asked(RequestHead request) {
    RequestHead filtered = filtered(request);
    return decision(filtered) instanceof Ask ? Fetches.asked(settings, filtered) : filtered;
  }

  /** Whether that response to the request would be stored. */
  public Storability storability(RequestHead request, ResponseHead response) {
    return Storability.of(
        request,
        CacheControl.ofRequest(request.fields()),
        response,
        CacheControl.ofResponse(response.fields()),
        settings.policy(),
        clock.epochSeconds());
  }

  /** How long that response would be fresh. */
  public Freshness freshness(ResponseHead response) {
    return Freshness.of(
        response,
        CacheControl.ofResponse(response.fields()),
        settings.policy(),
        clock.epochSeconds());
  }

  /** What the client gets of a response, which it changes. */
  public ResponseHead answered(RequestHead request, ResponseHead response) {
    RequestHead filtered = filtered(request);
    return switch (decision(filtered)) {
      case Ask ask -> fetched(filtered, response, new Forwarding(ask.reason()));
      case Pass pass -> passed(filtered, response, pass.forwarding());
      case CacheDecision other -> throw new IllegalStateException(other + " has no response");
    };
  }

  /** The same for a response that has nothing to do with the store. */
  public ResponseHead passed(RequestHead request, ResponseHead response, Forwarding told) {
    heads.passed(request, response);
    return toClient(request, response, told);
  }

  private ResponseHead fetched(RequestHead request, ResponseHead response, Forwarding told) {
    heads.fetched(request, response);
    long now = clock.epochSeconds();
    StoredFacts facts = StoredFacts.of(response, settings.policy(), now, now);
    Storability storability = storability(request, response);
    if (storability.isStorable()) {
      if (Fetches.mayBeCoded(settings, request)
          && settings.coding().isCodable(response, MessageFraming.declared(response))) {
        CompressionRules.addVary(response.fields());
      }
      told.stored(facts.ttlSeconds(now)).by(facts.freshness());
    } else if (storability != Storability.STATUS_PARTIAL) {
      told.detail(storability.detail());
    }
    return Preconditions.isNotModified(request, facts)
        ? toClient(request, OwnHeads.notModified(response, request), told)
        : toClient(request, response, told);
  }

  private ResponseHead toClient(RequestHead request, ResponseHead head, Forwarding told) {
    heads.answer(request, head, told);
    long length = MessageFraming.declared(head);
    ContentCoding coding = settings.coding().choose(request, head, length, false);
    if (coding != null) {
      CompressionRules.code(head.fields(), coding);
    }
    return head;
  }
}
