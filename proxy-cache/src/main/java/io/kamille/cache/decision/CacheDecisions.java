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
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReusePlan.Answer;
import io.kamille.cache.rules.ReusePlan.Forward;
import io.kamille.cache.rules.ReusePlan.Validate;
import io.kamille.cache.rules.ReusePlanner;
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
    ForwardReason rule = ReusePlanner.bypass(request);
    if (rule == null
        && !Cookies.has(request.fields(), settings.bypassCookies())
        && !settings.varyBy().isUnclear(request.fields())) {
      return null;
    }
    if (rule != ForwardReason.METHOD && demands.isOnlyIfCached()) {
      return Refuse.ONLY_IF_CACHED;
    }
    return rule == null
        ? new Pass(ForwardReason.BYPASS, Cause.COOKIE, "cookie")
        : new Pass(rule, Cause.RULE, "");
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
    if (refusesStored(request, demands, stored, now)) {
      return demands.isOnlyIfCached()
          ? Refuse.ONLY_IF_CACHED
          : new Pass(ForwardReason.BYPASS, Cause.IDENTITY_REFUSED, "identity-refused");
    }
    if (stored == null) {
      return ReusePlanner.planMiss(demands, hasVariants) instanceof Forward miss
          ? forward(request, demands, key, miss.reason(), false, mayWait)
          : Refuse.ONLY_IF_CACHED;
    }
    // Nothing in a file is freshened: it is fetched anew, and stands in if that fails.
    boolean isInFile = stored.content().isInFile();
    return switch (ReusePlanner.plan(request, demands, stored.facts(), now)) {
      case Answer.SERVE ->
          !isInFile && settings.background().isDue(request, stored.facts(), now)
              ? Serve.REFRESHED_AHEAD
              : Serve.AS_IT_IS;
      case Answer.SERVE_STALE ->
          isInFile
              ? forward(request, demands, key, ForwardReason.STALE, true, mayWait)
              : Serve.WHILE_REVALIDATED;
      case Validate validate ->
          isInFile
              ? forward(request, demands, key, validate.reason(), true, mayWait)
              : validate(request, validate.reason(), stored.facts(), mayWait);
      case Forward forward -> forward(request, demands, key, forward.reason(), true, mayWait);
      case Answer.REFUSE -> Refuse.ONLY_IF_CACHED;
    };
  }

  /** Whether the client refuses content without coding, and no stored coding can be served. */
  boolean refusesStored(
      RequestHead request, CacheControl demands, @Nullable StoredResponse stored, long now) {
    return settings.coding().isOn()
        && AcceptedCodings.refuseIdentity(request.fields())
        && !(stored != null
            && stored.codedFormFor(request) != stored
            && ReusePlanner.plan(request, demands, stored.facts(), now) == Answer.SERVE);
  }

  private static CacheDecision validate(
      RequestHead request, ForwardReason reason, StoredFacts stored, boolean mayWait) {
    boolean isShared =
        reason == ForwardReason.STALE
            && !stored.isValidatedAlways()
            && request.method() == Method.GET;
    return new Ask(reason, isShared && mayWait ? Way.COLLAPSE : Way.ALONE, true);
  }

  private CacheDecision forward(
      RequestHead request,
      CacheControl demands,
      CacheKey key,
      ForwardReason reason,
      boolean hasStale,
      boolean mayWait) {
    Storability storability = Storability.of(request, demands);
    if (request.fields().hasAny(FOR_THE_ORIGIN)) {
      boolean isPart = storability.isStorable() && isFilledAround(request);
      return new Pass(reason, isPart ? Cause.PART_OF_THE_WHOLE : Cause.FOR_THE_ORIGIN, "");
    }
    if (hasStale && request.method() == Method.HEAD && !demands.isNoStore()) {
      return new Ask(reason, Way.FRESHEN, false);
    }
    if (!storability.isStorable()) {
      return new Pass(reason, Cause.UNSTORABLE, storability.detail());
    }
    if (flights.isUncachable(key, request)) {
      return new Ask(reason, Way.PERHAPS, false);
    }
    boolean isForAll = reason != ForwardReason.REQUEST && !request.isAuthenticated();
    return new Ask(reason, isForAll && mayWait ? Way.COLLAPSE : Way.ALONE, false);
  }

  /** Whether nobody but the origin knows whether the client may have what is stored. */
  public static boolean isForTheOriginAlone(RequestHead request) {
    return request.fields().hasAny(NOT_TO_FILL_AROUND);
  }

  private boolean isFilledAround(RequestHead request) {
    return settings.background().fillsRanges()
        && request.fields().has(FieldName.RANGE)
        && !request.isAuthenticated()
        && !isForTheOriginAlone(request);
  }
}
