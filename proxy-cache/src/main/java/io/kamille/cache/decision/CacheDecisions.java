package io.kamille.cache.decision;

import io.kamille.cache.decision.CacheDecision.Ask;
import io.kamille.cache.decision.CacheDecision.Ask.Way;
import io.kamille.cache.decision.CacheDecision.Pass;
import io.kamille.cache.decision.CacheDecision.Pass.Cause;
import io.kamille.cache.decision.CacheDecision.Refuse;
import io.kamille.cache.decision.CacheDecision.Serve;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.Cookies;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.Directive;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReuseRule;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import org.jspecify.annotations.Nullable;

/** Decides for one route what becomes of requests. Explanations ask it too. Any thread. */
public record CacheDecisions(CacheSettings settings, InFlightTable flights) {

  /** Conditions and ranges that a response fetched for everybody would not answer. */
  private static final long FOR_THE_ORIGIN =
      Fields.mask(FieldName.RANGE, FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE);

  /** With these, nobody but the origin knows whether the client may have the whole. */
  private static final long NOT_TO_FILL_AROUND =
      Fields.mask(FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE);

  /**
   * What is decided without a look into the store; null if the cache has a say.
   *
   * @param demands the request's directives
   */
  public @Nullable CacheDecision beforeLookup(RequestHead request, CacheControl demands) {
    ReuseRule ofRequest = ReuseRule.ofBypass(request);
    ReuseRule rule = ofRequest == null ? ofCookies(request.fields()) : ofRequest;
    if (rule == null) {
      return null;
    }
    return rule.decision(demands, null) == Decision.REFUSE
        ? new Refuse(rule)
        : new Pass(rule, rule.forward(false), Cause.RULE, ofRequest == null ? rule.token() : "");
  }

  private @Nullable ReuseRule ofCookies(Fields request) {
    if (settings.varyBy().isUnclear(request)) {
      return ReuseRule.UNCLEAR_COOKIE;
    }
    return Cookies.has(request, settings.bypassCookies()) ? ReuseRule.COOKIE : null;
  }

  /**
   * What is decided when the store was looked into.
   *
   * @param key borrowed
   * @param hasVariants whether anything is stored under the key
   * @param stored what the request selects, or null; borrowed
   * @param mayWait whether the request may wait for another one's response
   */
  public CacheDecision afterLookup(
      RequestHead request,
      CacheControl demands,
      CacheKey key,
      boolean hasVariants,
      @Nullable StoredResponse stored,
      boolean mayWait,
      long now) {
    ReuseRule rule = rule(request, demands, hasVariants, stored, now);
    StoredFacts facts = stored == null ? null : stored.facts();
    ForwardReason reason = rule.forward(facts != null && facts.isFresh(now));
    Decision decision = rule.decision(demands, facts);
    if (decision == Decision.PASS) {
      return new Pass(rule, reason, Cause.RULE, rule.token());
    }
    if (facts != null && stored != null) {
      // Nothing in a file is freshened: it is fetched anew, and stands in if that fails.
      boolean isInFile = stored.content().isInFile();
      if (decision == Decision.SERVE) {
        return Serve.of(rule);
      }
      if (decision == Decision.SERVE_STALE && !isInFile) {
        return Serve.WHILE_REVALIDATED;
      }
      if (decision == Decision.VALIDATE && !isInFile) {
        return validate(request, rule, reason, facts, mayWait);
      }
    }
    return demands.has(Directive.ONLY_IF_CACHED)
        ? new Refuse(rule)
        : forward(request, demands, key, rule, reason, stored != null, mayWait);
  }

  private ReuseRule rule(
      RequestHead request,
      CacheControl demands,
      boolean hasVariants,
      @Nullable StoredResponse stored,
      long now) {
    ReuseRule miss = hasVariants ? ReuseRule.NO_VARIANT : ReuseRule.NOTHING_STORED;
    ReuseRule rule = stored == null ? miss : ReuseRule.of(request, demands, stored.facts(), now);
    boolean isRefused =
        settings.coding().isOn()
            && AcceptedCodings.refuseIdentity(request.fields())
            && (stored == null
                || stored.codedFormFor(request) == stored
                || rule.decision(demands, stored.facts()) != Decision.SERVE);
    return isRefused ? ReuseRule.IDENTITY_REFUSED : rule;
  }

  private static CacheDecision validate(
      RequestHead request,
      ReuseRule rule,
      ForwardReason reason,
      StoredFacts stored,
      boolean mayWait) {
    boolean isShared =
        reason == ForwardReason.STALE
            && !stored.isValidatedAlways()
            && request.method() == Method.GET;
    return new Ask(rule, reason, isShared && mayWait ? Way.COLLAPSE : Way.ALONE, true);
  }

  private CacheDecision forward(
      RequestHead request,
      CacheControl demands,
      CacheKey key,
      ReuseRule rule,
      ForwardReason reason,
      boolean hasStale,
      boolean mayWait) {
    Storability storability = Storability.of(request, demands);
    if (request.fields().hasAny(FOR_THE_ORIGIN)) {
      boolean isPart = storability.isStorable() && isFilledAround(request);
      return new Pass(rule, reason, isPart ? Cause.PART_OF_THE_WHOLE : Cause.FOR_THE_ORIGIN, "");
    }
    if (hasStale && request.method() == Method.HEAD && !demands.has(Directive.NO_STORE)) {
      return new Ask(rule, reason, Way.FRESHEN, false);
    }
    if (!storability.isStorable()) {
      return new Pass(rule, reason, Cause.UNSTORABLE, storability.detail());
    }
    if (flights.isUncachable(key, request)) {
      return new Ask(rule, reason, Way.PERHAPS, false);
    }
    boolean isForAll = reason != ForwardReason.REQUEST && !request.isAuthenticated();
    return new Ask(rule, reason, isForAll && mayWait ? Way.COLLAPSE : Way.ALONE, false);
  }

  /** Whether nobody but the origin knows whether the client may have what is stored. */
  public static boolean isForTheOriginAlone(RequestHead request) {
    return request.fields().hasAny(NOT_TO_FILL_AROUND);
  }

  private boolean isFilledAround(RequestHead request) {
    return settings.fillsRanges()
        && request.fields().has(FieldName.RANGE)
        && !request.isAuthenticated()
        && !isForTheOriginAlone(request);
  }
}
