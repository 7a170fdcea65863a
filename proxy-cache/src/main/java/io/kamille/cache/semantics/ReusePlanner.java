package io.kamille.cache.semantics;

import io.kamille.cache.semantics.ReusePlan.Forward;
import io.kamille.cache.semantics.ReusePlan.Refuse;
import io.kamille.cache.semantics.ReusePlan.Serve;
import io.kamille.cache.semantics.ReusePlan.ServeStale;
import io.kamille.cache.semantics.ReusePlan.Validate;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import org.jspecify.annotations.Nullable;

/** Whether a stored response may answer a request (RFC 9111 §4). Stateless; any thread. */
public final class ReusePlanner {

  /*
   * The request is looked at first, then the stored response, then what the client's directives make
   * of its age. A fresh hit by a request with none of the fields in `DEMANDING`, the usual case, is
   * two comparisons.
   *
   * If-Match and If-Unmodified-Since are for the origin to judge (§4.3.2), so a request with one of
   * them is not answered from the store.
   */
  private static final long DEMANDING =
      Fields.mask(
          FieldName.CACHE_CONTROL,
          FieldName.PRAGMA,
          FieldName.IF_MATCH,
          FieldName.IF_UNMODIFIED_SINCE,
          FieldName.CONTENT_LENGTH,
          FieldName.TRANSFER_ENCODING,
          FieldName.UPGRADE);

  private static final long JUDGED_BY_ORIGIN =
      Fields.mask(FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE);

  private ReusePlanner() {}

  /**
   * Why this request passes the cache by, neither answered nor stored nor collapsed; null if the
   * cache has a say. Decided without a look into the store.
   */
  public static @Nullable Forward bypass(RequestHead request) {
    if (request.method() != Method.GET && request.method() != Method.HEAD) {
      return Forward.METHOD;
    }
    Fields fields = request.fields();
    return fields.hasAny(DEMANDING) && (Storability.hasContent(fields) || isUpgrade(fields))
        ? Forward.BYPASS
        : null;
  }

  /**
   * The plan for a request that some stored response was selected for.
   *
   * @param stored the facts of the response that key and selecting fields choose (§4.1)
   */
  public static ReusePlan plan(RequestHead request, StoredFacts stored, long nowEpochSeconds) {
    Forward bypass = bypass(request);
    if (bypass != null) {
      return bypass;
    }
    Fields fields = request.fields();
    if (!fields.hasAny(DEMANDING)) {
      return plan(stored, nowEpochSeconds);
    }
    return plan(stored, CacheControl.ofRequest(fields), fields, nowEpochSeconds);
  }

  /**
   * The plan for a request that nothing stored was selected for.
   *
   * @param isVariantMiss whether something is stored under the key, for other selecting fields
   */
  public static ReusePlan planMiss(RequestHead request, boolean isVariantMiss) {
    Forward bypass = bypass(request);
    if (bypass != null) {
      return bypass;
    }
    if (CacheControl.ofRequest(request.fields()).isOnlyIfCached()) {
      return Refuse.REFUSE;
    }
    return isVariantMiss ? Forward.VARY_MISS : Forward.URI_MISS;
  }

  private static ReusePlan plan(StoredFacts stored, long now) {
    if (stored.isFresh(now) && !stored.isValidatedAlways()) {
      return Serve.SERVE;
    }
    return stored.mayServeWhileRevalidating(now)
        ? ServeStale.SERVE_STALE
        : ask(stored, ForwardReason.STALE);
  }

  private static ReusePlan plan(
      StoredFacts stored, CacheControl control, Fields request, long now) {
    if (request.hasAny(JUDGED_BY_ORIGIN)) {
      return control.isOnlyIfCached() ? Refuse.REFUSE : Forward.REQUEST;
    }
    ReusePlan plan = plan(stored, control, now);
    boolean asksOrigin = plan instanceof Validate || plan instanceof Forward;
    return asksOrigin && control.isOnlyIfCached() ? Refuse.REFUSE : plan;
  }

  private static ReusePlan plan(StoredFacts stored, CacheControl control, long now) {
    if (control.isNoStore()) {
      return Forward.REQUEST;
    }
    boolean isFresh = stored.isFresh(now);
    if (control.isNoCache() || isTooOld(stored, control, now)) {
      return ask(stored, isFresh ? ForwardReason.REQUEST : ForwardReason.STALE);
    }
    if (isFresh && !stored.isValidatedAlways()) {
      boolean isFreshEnough = stored.ttlSeconds(now) >= control.minFreshSeconds();
      return isFreshEnough ? Serve.SERVE : ask(stored, ForwardReason.REQUEST);
    }
    if (!isFresh && stored.mayServeStaleTo(control, now)) {
      return Serve.SERVE;
    }
    boolean demandsFresh = control.maxAgeSeconds() >= 0 || control.minFreshSeconds() >= 0;
    return stored.mayServeWhileRevalidating(now) && !demandsFresh
        ? ServeStale.SERVE_STALE
        : ask(stored, ForwardReason.STALE);
  }

  /**
   * Older than the client's max-age (§5.2.1.1). What is immutable and fresh is not asked about for
   * that: browsers send max-age=0 with every reload (RFC 8246 §2).
   */
  private static boolean isTooOld(StoredFacts stored, CacheControl control, long now) {
    if (stored.isImmutable() && stored.isFresh(now)) {
      return false;
    }
    return control.maxAgeSeconds() != CacheControl.ABSENT
        && stored.ageSeconds(now) > control.maxAgeSeconds();
  }

  private static ReusePlan ask(StoredFacts stored, ForwardReason reason) {
    boolean isRequest = reason == ForwardReason.REQUEST;
    if (stored.hasValidator()) {
      return isRequest ? Validate.REQUEST : Validate.STALE;
    }
    return isRequest ? Forward.REQUEST : Forward.STALE;
  }

  private static boolean isUpgrade(Fields request) {
    int index = request.indexOf(FieldName.UPGRADE);
    return index >= 0
        && !Octets.equalsIgnoreCase(
            request.octets(), request.valueStart(index), request.valueEnd(index), "h2c");
  }
}
