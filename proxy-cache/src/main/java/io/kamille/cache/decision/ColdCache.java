package io.kamille.cache.decision;

import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.Freshness;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;

/**
 * A route's cache with nothing in it, made of settings alone: what it would decide. It asks what a
 * real one asks. Any thread, one at a time.
 */
public final class ColdCache {

  private final CacheSettings settings;
  private final WallClock clock;
  private final CacheDecisions decisions;

  public ColdCache(CacheSettings settings, WallClock clock) {
    this.settings = settings;
    this.clock = clock;
    this.decisions = new CacheDecisions(settings, new InFlightTable(clock, new PurgeTable()));
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

  /** The request as it is looked up and forwarded: with the query that counts. */
  public RequestHead filtered(RequestHead request) {
    return isBypassed(request) ? request : QueryFilter.filtered(settings.query(), request);
  }

  /**
   * What the origin is asked for a request that is looked up: normal forms, where there are any.
   */
  public RequestHead asked(RequestHead request) {
    RequestHead asking = request.copy();
    settings.varyBy().applyTo(asking.fields());
    return asking;
  }

  /** Takes the tags from fields that go to a client. */
  public void removeTags(Fields response) {
    settings.tagFields().gather(response);
    response.remove(FieldName.SURROGATE_KEY);
    response.remove(FieldName.CACHE_TAG);
  }

  /** Whether that response to the request would be stored. */
  public Storability storability(RequestHead request, ResponseHead response) {
    return Storability.of(
        request,
        CacheControl.ofRequest(request.fields()),
        response,
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
}
