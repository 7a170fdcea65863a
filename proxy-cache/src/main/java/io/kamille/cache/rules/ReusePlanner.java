package io.kamille.cache.rules;

import io.kamille.cache.rules.ReusePlan.Answer;
import io.kamille.cache.rules.ReusePlan.Forward;
import io.kamille.cache.rules.ReusePlan.Validate;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import org.jspecify.annotations.Nullable;

/** Whether a stored response may answer a request (RFC 9111 §4). Stateless; any thread. */
public final class ReusePlanner {

  /*
   * What settles a request is a rule, and a rule comes to a plan: so whoever asks why is told by
   * the code that decides (Reasons).
   *
   * The request's directives are read once, by whoever asks. They are looked at first, then the
   * stored response, then what they make of its age.
   *
   * If-Match and If-Unmodified-Since are for the origin to judge (§4.3.2), so a request with one of
   * them is not answered from the store.
   */
  /** Without these, GET and HEAD never pass the cache by. */
  private static final long BYPASSING =
      Fields.mask(
          FieldName.CONTENT_LENGTH,
          FieldName.TRANSFER_ENCODING,
          FieldName.UPGRADE,
          FieldName.CONNECTION);

  private static final long JUDGED_BY_ORIGIN =
      Fields.mask(FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE);

  private ReusePlanner() {}

  /**
   * Why this request bypasses the cache, neither answered nor stored nor collapsed; null if the
   * cache has a say. Decided without a look into the store.
   */
  public static @Nullable ForwardReason bypass(RequestHead request) {
    ReuseRule rule = bypassRule(request);
    if (rule == null) {
      return null;
    }
    return rule == ReuseRule.METHOD ? ForwardReason.METHOD : ForwardReason.BYPASS;
  }

  /** The rule behind {@link #bypass}, or null. */
  static @Nullable ReuseRule bypassRule(RequestHead request) {
    if (request.method() != Method.GET && request.method() != Method.HEAD) {
      return ReuseRule.METHOD;
    }
    Fields fields = request.fields();
    if (!fields.hasAny(BYPASSING)) {
      return null;
    }
    if (Storability.hasContent(fields)) {
      return ReuseRule.CONTENT;
    }
    if (isUpgrade(fields)) {
      return ReuseRule.UPGRADE;
    }
    return ConnectionOptions.hideFields(fields) ? ReuseRule.CONNECTION : null;
  }

  /**
   * The plan for a request that some stored response was selected for and that does not {@linkplain
   * #bypass pass by}.
   *
   * @param demands the request's directives
   * @param stored the facts of the response that key and selecting fields choose (§4.1)
   */
  public static ReusePlan plan(
      RequestHead request, CacheControl demands, StoredFacts stored, long nowEpochSeconds) {
    ReuseRule rule = rule(request, demands, stored, nowEpochSeconds);
    return unlessOnlyCached(planOf(rule, stored, nowEpochSeconds), demands);
  }

  /**
   * The plan for a request that nothing stored was selected for and that does not pass by.
   *
   * @param demands the request's directives
   * @param isVariantMiss whether something is stored under the key, for other selecting fields
   */
  public static ReusePlan planMiss(CacheControl demands, boolean isVariantMiss) {
    ForwardReason reason = isVariantMiss ? ForwardReason.VARY_MISS : ForwardReason.URI_MISS;
    return unlessOnlyCached(new Forward(reason), demands);
  }

  /** What a rule about a stored response comes to, before only-if-cached has its say. */
  static ReusePlan planOf(ReuseRule rule, StoredFacts stored, long now) {
    return switch (rule) {
      case FRESH, MAX_STALE -> Answer.SERVE;
      case STALE_WHILE_REVALIDATE -> Answer.SERVE_STALE;
      case NO_CACHE, STALE -> ask(stored, ForwardReason.STALE);
      case REQUEST_NO_CACHE, REQUEST_MAX_AGE, REQUEST_MIN_FRESH ->
          ask(stored, stored.isFresh(now) ? ForwardReason.REQUEST : ForwardReason.STALE);
      case ORIGIN_JUDGES, REQUEST_NO_STORE -> new Forward(ForwardReason.REQUEST);
      case METHOD -> new Forward(ForwardReason.METHOD);
      case CONTENT, UPGRADE, CONNECTION -> new Forward(ForwardReason.BYPASS);
      case NOTHING_STORED -> new Forward(ForwardReason.URI_MISS);
      case NO_VARIANT -> new Forward(ForwardReason.VARY_MISS);
    };
  }

  /** §5.2.1.7. */
  private static ReusePlan unlessOnlyCached(ReusePlan plan, CacheControl control) {
    return control.isOnlyIfCached() && !(plan instanceof Answer) ? Answer.REFUSE : plan;
  }

  /** The rule behind {@link #plan}. */
  static ReuseRule rule(RequestHead request, CacheControl control, StoredFacts stored, long now) {
    if (request.fields().hasAny(JUDGED_BY_ORIGIN)) {
      return ReuseRule.ORIGIN_JUDGES;
    }
    if (control.isNoStore()) {
      return ReuseRule.REQUEST_NO_STORE;
    }
    if (control.isNoCache()) {
      return ReuseRule.REQUEST_NO_CACHE;
    }
    if (isTooOld(stored, control, now)) {
      return ReuseRule.REQUEST_MAX_AGE;
    }
    boolean isFresh = stored.isFresh(now);
    if (isFresh && !stored.isValidatedAlways()) {
      boolean isFreshEnough = stored.ttlSeconds(now) >= control.minFreshSeconds();
      return isFreshEnough ? ReuseRule.FRESH : ReuseRule.REQUEST_MIN_FRESH;
    }
    boolean takesStale = !isFresh && stored.mayServeStaleTo(control, now);
    boolean demandsFresh = control.maxAgeSeconds() >= 0 || control.minFreshSeconds() >= 0;
    if (stored.mayServeWhileRevalidating(now) && (takesStale || !demandsFresh)) {
      return ReuseRule.STALE_WHILE_REVALIDATE;
    }
    if (takesStale) {
      return ReuseRule.MAX_STALE;
    }
    return stored.isValidatedAlways() ? ReuseRule.NO_CACHE : ReuseRule.STALE;
  }

  /**
   * Older than the client's max-age (§5.2.1.1). What is immutable and fresh is not asked about for
   * that: browsers send max-age=0 with every reload (RFC 8246 §2).
   */
  private static boolean isTooOld(StoredFacts stored, CacheControl control, long now) {
    if (stored.rules().isImmutable() && stored.isFresh(now)) {
      return false;
    }
    return control.maxAgeSeconds() != CacheControl.ABSENT
        && stored.ageSeconds(now) > control.maxAgeSeconds();
  }

  private static ReusePlan ask(StoredFacts stored, ForwardReason reason) {
    return stored.hasValidator() ? new Validate(reason) : new Forward(reason);
  }

  private static boolean isUpgrade(Fields request) {
    int index = request.indexOf(FieldName.UPGRADE);
    return index >= 0
        && !Octets.equalsIgnoreCase(
            request.octets(), request.valueStart(index), request.valueEnd(index), "h2c");
  }
}
