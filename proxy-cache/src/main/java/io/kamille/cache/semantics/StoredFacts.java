package io.kamille.cache.semantics;

import io.kamille.core.http.EntityTag;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * All that deciding about a stored response needs to know of it, worked out once when it is stored
 * or freshened, so that a hit costs a few comparisons. Immutable; any thread.
 *
 * @param status its status code
 * @param responseTime when it was received, in epoch seconds ({@code response_time}, RFC 9111
 *     §4.2.3)
 * @param correctedInitialAge its age then, in seconds ({@code corrected_initial_age})
 * @param freshness its lifetime and where that comes from
 * @param isValidatedAlways no-cache: never reused without validation (§5.2.2.4)
 * @param isValidatedOnceStale must-revalidate or proxy-revalidate: never reused stale (§5.2.2.2,
 *     §5.2.2.8)
 * @param hasSharedMaxAge s-maxage: no client can have it stale (§5.2.2.10)
 * @param isImmutable immutable: while it is fresh, its age is no reason to ask (RFC 8246 §2)
 * @param staleWhileRevalidateSeconds RFC 5861 §3; 0 for none
 * @param staleIfErrorSeconds RFC 5861 §4; 0 for none
 * @param maxStaleSeconds how long it may serve stale at most, whatever a request says
 * @param date {@code date_value} in epoch seconds
 * @param entityTag as it came, or null if there is not one well-formed tag
 * @param lastModifiedText as it came, or null if it was no date
 * @param lastModified in epoch seconds, or {@link HttpDate#INVALID}
 * @param tags what it may be purged by
 */
public record StoredFacts(
    int status,
    long responseTime,
    int correctedInitialAge,
    Freshness freshness,
    boolean isValidatedAlways,
    boolean isValidatedOnceStale,
    boolean hasSharedMaxAge,
    boolean isImmutable,
    int staleWhileRevalidateSeconds,
    int staleIfErrorSeconds,
    int maxStaleSeconds,
    long date,
    @Nullable String entityTag,
    @Nullable String lastModifiedText,
    long lastModified,
    Tags tags) {

  /** How long a response may be served while it is validated that was purged softly. */
  static final int SOFT_PURGE_SECONDS = 60;

  /**
   * The facts of a response as it came, before fields are left out for storing.
   *
   * @param requestTime when its request was sent, in epoch seconds
   * @param responseTime when its head was received, in epoch seconds
   */
  public static StoredFacts of(
      ResponseHead head, CachePolicy policy, long requestTime, long responseTime) {
    Fields fields = head.fields();
    CacheControl control = CacheControl.ofResponse(fields);
    String lastModifiedText = fields.first(FieldName.LAST_MODIFIED);
    long lastModified = HttpDate.parse(lastModifiedText, responseTime);
    Freshness freshness = Freshness.of(head, control, policy, responseTime);
    return new StoredFacts(
        head.status(),
        responseTime,
        CurrentAge.correctedInitialAge(fields, requestTime, responseTime),
        freshness,
        control.isNoCache(),
        control.isMustRevalidate() || control.isProxyRevalidate(),
        control.sMaxAgeSeconds() != CacheControl.ABSENT,
        control.isImmutable(),
        policy.stale().whileRevalidateSeconds(control, freshness),
        policy.stale().ifErrorSeconds(control, freshness),
        policy.stale().maxSeconds(),
        CurrentAge.dateValue(fields, responseTime),
        entityTag(fields),
        lastModified == HttpDate.INVALID ? null : lastModifiedText,
        lastModified,
        Tags.NONE);
  }

  /** The same facts of a response with these tags. */
  public StoredFacts tagged(Tags tags) {
    return tags.equals(this.tags)
        ? this
        : with(freshness, staleWhileRevalidateSeconds, maxStaleSeconds, entityTag, tags);
  }

  /**
   * The same facts of a response that an operator wants validated: stale since that time.
   *
   * <p>Its stale-while-revalidate counts from there. It is at least {@value #SOFT_PURGE_SECONDS}
   * seconds, but the response is never served longer than it would have been without the purge, nor
   * at all where its directives want it validated before it is used stale (RFC 9111 §4.2.4).
   * Afterwards no request makes us serve it by its max-stale or stale-if-error.
   */
  public StoredFacts staleSince(long epochSeconds) {
    int ageThen = ageSeconds(epochSeconds);
    long leftSeconds = (long) freshness.lifetimeSeconds() - ageThen;
    if (leftSeconds <= 0) {
      return this;
    }
    long least = Math.max(staleWhileRevalidateSeconds, SOFT_PURGE_SECONDS);
    long most = leftSeconds + staleWhileRevalidateSeconds;
    int window = (int) Math.min(least, most);
    return with(
        new Freshness(ageThen, freshness.source()),
        window,
        Math.min(maxStaleSeconds, window),
        entityTag,
        tags);
  }

  /** The same for a coded form, whose tag is weak (RFC 9110 §8.8.1). */
  public StoredFacts weakened() {
    return entityTag == null
        ? this
        : with(
            freshness,
            staleWhileRevalidateSeconds,
            maxStaleSeconds,
            CodingRules.weak(entityTag),
            tags);
  }

  private StoredFacts with(
      Freshness freshness,
      int staleWhileRevalidateSeconds,
      int maxStaleSeconds,
      @Nullable String entityTag,
      Tags tags) {
    return new StoredFacts(
        status,
        responseTime,
        correctedInitialAge,
        freshness,
        isValidatedAlways,
        isValidatedOnceStale,
        hasSharedMaxAge,
        isImmutable,
        staleWhileRevalidateSeconds,
        staleIfErrorSeconds,
        maxStaleSeconds,
        date,
        entityTag,
        lastModifiedText,
        lastModified,
        tags);
  }

  private static @Nullable String entityTag(Fields fields) {
    String tag = fields.first(FieldName.ETAG);
    return EntityTag.isValid(tag) && fields.count(FieldName.ETAG) == 1 ? tag : null;
  }

  /** {@code current_age}, the value of {@code Age} in an answer, in seconds (RFC 9111 §4.2.3). */
  public int ageSeconds(long nowEpochSeconds) {
    return CurrentAge.at(nowEpochSeconds, correctedInitialAge, responseTime);
  }

  /** What is left of its lifetime, negative once stale: {@code ttl} (RFC 9211 §2.4). */
  public int ttlSeconds(long nowEpochSeconds) {
    return freshness.lifetimeSeconds() - ageSeconds(nowEpochSeconds);
  }

  /** {@code response_is_fresh} (RFC 9111 §4.2). */
  public boolean isFresh(long nowEpochSeconds) {
    return freshness.lifetimeSeconds() > ageSeconds(nowEpochSeconds);
  }

  /** Whether an origin could be asked if it is still good (RFC 9111 §4.3.1). */
  public boolean hasValidator() {
    return entityTag != null || lastModifiedText != null;
  }

  /** Whether it is stale, yet may be served while it is validated (RFC 5861 §3). */
  boolean mayServeWhileRevalidating(long nowEpochSeconds) {
    return mayServeStale() && -ttlSeconds(nowEpochSeconds) < staleWhileRevalidateSeconds;
  }

  /**
   * Whether it may be served in place of an error: 500, 502, 503, 504, or no answer at all (RFC
   * 5861 §4).
   *
   * @param request the directives of the request, which may allow it too
   */
  public boolean mayServeOnError(CacheControl request, long nowEpochSeconds) {
    int allowed = staleIfErrorSeconds;
    if (!hasSharedMaxAge) {
      allowed = Math.max(allowed, Math.min(request.staleIfErrorSeconds(), maxStaleSeconds));
    }
    return allowed > 0 && mayServeStale() && -ttlSeconds(nowEpochSeconds) < allowed;
  }

  /** Whether the client may have it although it is stale (RFC 9111 §5.2.1.2). */
  boolean mayServeStaleTo(CacheControl request, long nowEpochSeconds) {
    return mayServeStale()
        && !hasSharedMaxAge
        && -ttlSeconds(nowEpochSeconds) <= request.maxStaleSeconds()
        && -ttlSeconds(nowEpochSeconds) < maxStaleSeconds;
  }

  private boolean mayServeStale() {
    return !isValidatedAlways && !isValidatedOnceStale;
  }
}
