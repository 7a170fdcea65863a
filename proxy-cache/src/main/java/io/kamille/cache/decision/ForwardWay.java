package io.kamille.cache.decision;

import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.ReusePlan.Serve;
import io.kamille.cache.rules.ReusePlanner;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.settings.BackgroundSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;

/** How a request goes toward the origin that the store alone cannot answer. */
public enum ForwardWay {

  /*
   * What the store cannot answer goes one of three ways. Nothing of the response can be stored for
   * others: the request passes. The response may be stored, but nobody is to wait for it: the
   * request goes alone. Else the first of a key leads, and those that come meanwhile follow.
   */

  /** It passes: a condition or range that a response fetched for everybody would not answer. */
  PASS_FOR_ORIGIN,
  /** It passes: no response to it may be stored. */
  PASS_UNSTORABLE,
  /** Alone: a HEAD whose answer tells of the stored response (RFC 9111 §4.3.5). */
  FRESHEN,
  /** Alone, conditions left in: what came for the key could not be shared lately. */
  PERHAPS,
  /** It leads those that come meanwhile, or follows the one that does (§4). */
  COLLAPSE,
  /** Alone: its answer may be stored, but is not to be waited for. */
  ALONE;

  /** Conditions and ranges that a response fetched for everybody would not answer. */
  private static final long FOR_THE_ORIGIN =
      Fields.mask(FieldName.RANGE, FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE);

  /** With these, nobody but the origin knows whether the client may have the whole. */
  private static final long NOT_TO_FILL_AROUND =
      Fields.mask(
          FieldName.AUTHORIZATION,
          FieldName.CLIENT_CERT,
          FieldName.IF_MATCH,
          FieldName.IF_UNMODIFIED_SINCE);

  /**
   * The way of a request whose whole response is asked for. Borrows the key.
   *
   * @param hasStale whether something is stored that cannot be validated
   * @param mayBeHeld whether the request may wait for another
   */
  public static ForwardWay of(
      RequestHead request,
      CacheKey key,
      ForwardReason reason,
      boolean hasStale,
      boolean mayBeHeld,
      InFlightTable flights) {
    boolean isForOrigin = isForOrigin(request);
    if (hasStale && !isForOrigin && mayFreshen(request)) {
      return FRESHEN;
    }
    if (isForOrigin) {
      return PASS_FOR_ORIGIN;
    }
    if (!Storability.of(request).isStorable()) {
      return PASS_UNSTORABLE;
    }
    if (flights.isUncachable(key, request)) {
      return PERHAPS;
    }
    boolean isForAll = reason != ForwardReason.REQUEST && !request.isAuthenticated();
    return isForAll && mayBeHeld ? COLLAPSE : ALONE;
  }

  /** Whether only the origin can answer this request, whatever is stored. */
  public static boolean isForOrigin(RequestHead request) {
    return request.fields().hasAny(FOR_THE_ORIGIN);
  }

  /** The way of a request that asks the origin about a stored response. */
  public static ForwardWay ofValidation(
      RequestHead request, ForwardReason reason, StoredFacts stored, boolean mayBeHeld) {
    boolean isShared = reason == ForwardReason.STALE && !stored.isValidatedAlways();
    return isShared && request.method() == Method.GET && mayBeHeld ? COLLAPSE : ALONE;
  }

  /** Whether the answer to this request, HEAD, tells of a stored response (RFC 9111 §4.3.5). */
  private static boolean mayFreshen(RequestHead request) {
    return request.method() == Method.HEAD && !CacheControl.ofRequest(request.fields()).isNoStore();
  }

  /** Whether this request, which passes, is for a range that the whole is to be fetched around. */
  public static boolean fillsAround(RequestHead request, BackgroundSettings background) {
    Fields fields = request.fields();
    return background.fillsRanges()
        && fields.has(FieldName.RANGE)
        && !fields.hasAny(NOT_TO_FILL_AROUND)
        && Storability.of(request).isStorable();
  }

  /** Whether a coded form is the answer to a request that excludes content without coding. */
  public static boolean mayServeCoded(RequestHead request, StoredResponse stored, long now) {
    return stored.formFor(request) != stored
        && ReusePlanner.plan(request, stored.facts(), now) == Serve.SERVE;
  }
}
