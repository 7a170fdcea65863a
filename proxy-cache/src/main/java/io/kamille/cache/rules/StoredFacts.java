package io.kamille.cache.rules;

import io.kamille.core.http.EntityTag;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * All that deciding about a stored response needs to know of it, worked out once when it is stored
 * or freshened, so that a hit costs a few comparisons. Immutable; any thread.
 */
public final class StoredFacts {

  /*
   * There is one for each stored response, so each octet counts. Times are kept in 32 bits, without
   * a sign, which is enough until 2106; what a response may be reused by is shared with others; and
   * of Last-Modified only the time is kept, unless that would not give back its text: then the text
   * alone is.
   */

  /** How long a response may be served while it is validated that was purged softly. */
  static final int SOFT_PURGE_SECONDS = 60;

  private static final long LATEST = 0xFFFF_FFFFL;
  private static final int NO_TIME = 0;
  private static final int HEAP_BYTES = 40;
  private static final int TEXT_BYTES = 44;
  private static final int TAGS_BYTES = 40;

  private final ReuseRules rules;
  private final int responseTime;
  private final int correctedInitialAge;
  private final int date;
  private final int lastModified;
  private final @Nullable String entityTag;
  private final @Nullable String oddLastModified;
  private final Tags tags;

  /**
   * The facts as somebody wrote them down.
   *
   * @param rules what it may be reused by
   * @param responseTime when it was received, in epoch seconds ({@code response_time}, RFC 9111
   *     §4.2.3)
   * @param correctedInitialAge its age then, in seconds ({@code corrected_initial_age})
   * @param date {@code date_value} in epoch seconds
   * @param entityTag as it came, or null if there is not one well-formed tag
   * @param lastModifiedText as it came, or null if it was no date
   * @param lastModified in epoch seconds, or {@link HttpDate#INVALID}
   * @param tags what it may be purged by
   */
  public StoredFacts(
      ReuseRules rules,
      long responseTime,
      int correctedInitialAge,
      long date,
      @Nullable String entityTag,
      @Nullable String lastModifiedText,
      long lastModified,
      Tags tags) {
    this.rules = rules;
    this.responseTime = seconds(responseTime);
    this.correctedInitialAge = correctedInitialAge;
    this.date = seconds(date);
    this.entityTag = entityTag;
    boolean isUsual = isUsual(lastModified, lastModifiedText);
    this.lastModified = isUsual ? seconds(lastModified) : NO_TIME;
    this.oddLastModified = isUsual ? null : lastModifiedText;
    this.tags = tags;
  }

  private StoredFacts(StoredFacts same, ReuseRules rules, @Nullable String entityTag, Tags tags) {
    this.rules = rules;
    this.responseTime = same.responseTime;
    this.correctedInitialAge = same.correctedInitialAge;
    this.date = same.date;
    this.entityTag = entityTag;
    this.lastModified = same.lastModified;
    this.oddLastModified = same.oddLastModified;
    this.tags = tags;
  }

  private static int seconds(long epochSeconds) {
    return (int) Math.clamp(epochSeconds, 0, LATEST);
  }

  private static boolean isUsual(long lastModified, @Nullable String text) {
    return lastModified > NO_TIME
        && lastModified <= LATEST
        && text != null
        && text.length() == HttpDate.LENGTH
        && text.equals(HttpDate.format(lastModified));
  }

  /**
   * The facts of a response as it came, before fields are left out for storing.
   *
   * @param requestTime when its request was sent, in epoch seconds
   * @param responseTime when its head was received, in epoch seconds
   */
  public static StoredFacts of(
      ResponseHead head, CachePolicy policy, long requestTime, long responseTime) {
    return of(head, CacheControl.ofResponse(head.fields()), policy, requestTime, responseTime);
  }

  /** The same, where its directives are known. */
  public static StoredFacts of(
      ResponseHead head,
      CacheControl control,
      CachePolicy policy,
      long requestTime,
      long responseTime) {
    Fields fields = head.fields();
    String lastModifiedText = fields.first(FieldName.LAST_MODIFIED);
    long lastModified = HttpDate.parse(lastModifiedText, responseTime);
    return new StoredFacts(
        ReuseRules.of(
            head.status(), control, policy, Freshness.of(head, control, policy, responseTime)),
        responseTime,
        CurrentAge.correctedInitialAge(fields, requestTime, responseTime),
        CurrentAge.dateValue(fields, responseTime),
        entityTag(fields),
        lastModified == HttpDate.INVALID ? null : lastModifiedText,
        lastModified,
        Tags.NONE);
  }

  /** Its status code. */
  public int status() {
    return rules.status();
  }

  /** What it may be reused by. */
  public ReuseRules rules() {
    return rules;
  }

  /** When it was received, in epoch seconds ({@code response_time}, RFC 9111 §4.2.3). */
  public long responseTime() {
    return Integer.toUnsignedLong(responseTime);
  }

  /** Its age when it was received, in seconds ({@code corrected_initial_age}). */
  public int correctedInitialAge() {
    return correctedInitialAge;
  }

  /** Its lifetime and where that comes from. */
  public Freshness freshness() {
    return rules.freshness();
  }

  /** no-cache: never reused without validation (RFC 9111 §5.2.2.4). */
  public boolean isValidatedAlways() {
    return rules.isValidatedAlways();
  }

  /** {@code date_value} in epoch seconds. */
  public long date() {
    return Integer.toUnsignedLong(date);
  }

  /** As it came, or null if there is not one well-formed tag. */
  public @Nullable String entityTag() {
    return entityTag;
  }

  /** As it came, or null if it was no date. */
  public @Nullable String lastModifiedText() {
    return lastModified == NO_TIME
        ? oddLastModified
        : HttpDate.format(Integer.toUnsignedLong(lastModified));
  }

  /** In epoch seconds, or {@link HttpDate#INVALID}. */
  public long lastModified() {
    return lastModified == NO_TIME
        ? HttpDate.parse(oddLastModified, responseTime())
        : Integer.toUnsignedLong(lastModified);
  }

  /** What it may be purged by. */
  public Tags tags() {
    return tags;
  }

  /** What it takes on the heap for itself alone, nearly. */
  public int heapBytes() {
    return HEAP_BYTES
        + (rules.freshness().source().isOfOne() ? ReuseRules.HEAP_BYTES : 0)
        + (entityTag == null ? 0 : TEXT_BYTES + entityTag.length())
        + (oddLastModified == null ? 0 : TEXT_BYTES + oddLastModified.length())
        + (tags.size() == 0 ? 0 : TAGS_BYTES + tags.size() * Long.BYTES);
  }

  /** The same facts of a response with these tags. */
  public StoredFacts tagged(Tags tags) {
    return tags.equals(this.tags) ? this : new StoredFacts(this, rules, entityTag, tags);
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
    long leftSeconds = (long) rules.freshness().lifetimeSeconds() - ageThen;
    if (leftSeconds <= 0) {
      return this;
    }
    int whileRevalidate = rules.staleWhileRevalidateSeconds();
    long least = Math.max(whileRevalidate, SOFT_PURGE_SECONDS);
    int window = (int) Math.min(least, leftSeconds + whileRevalidate);
    int maxStale = Math.min(rules.maxStaleSeconds(), window);
    return new StoredFacts(this, rules.with(ageThen, window, maxStale).shared(), entityTag, tags);
  }

  /** The same for a coded form, whose tag is weak (RFC 9110 §8.8.1). */
  public StoredFacts weakened() {
    return entityTag == null
        ? this
        : new StoredFacts(this, rules, CompressionRules.weak(entityTag), tags);
  }

  private static @Nullable String entityTag(Fields fields) {
    String tag = fields.first(FieldName.ETAG);
    return EntityTag.isValid(tag) && fields.count(FieldName.ETAG) == 1 ? tag : null;
  }

  /** {@code current_age}, the value of {@code Age} in an answer, in seconds (RFC 9111 §4.2.3). */
  public int ageSeconds(long nowEpochSeconds) {
    return CurrentAge.at(nowEpochSeconds, correctedInitialAge, responseTime());
  }

  /** What is left of its lifetime, negative once stale: {@code ttl} (RFC 9211 §2.4). */
  public int ttlSeconds(long nowEpochSeconds) {
    return rules.freshness().lifetimeSeconds() - ageSeconds(nowEpochSeconds);
  }

  /** {@code response_is_fresh} (RFC 9111 §4.2). */
  public boolean isFresh(long nowEpochSeconds) {
    return rules.freshness().lifetimeSeconds() > ageSeconds(nowEpochSeconds);
  }

  /** Whether it may be reused without validation (RFC 9111 §4). */
  public boolean isReusable(long nowEpochSeconds) {
    return isFresh(nowEpochSeconds) && !isValidatedAlways();
  }

  /** Whether an origin could be asked if it is still good (RFC 9111 §4.3.1). */
  public boolean hasValidator() {
    return entityTag != null || lastModified != NO_TIME || oddLastModified != null;
  }

  /** Whether it is stale, yet may be served while it is validated (RFC 5861 §3). */
  boolean mayServeWhileRevalidating(long nowEpochSeconds) {
    return mayServeStale() && -ttlSeconds(nowEpochSeconds) < rules.staleWhileRevalidateSeconds();
  }

  /**
   * Whether it may be served in place of an error: 500, 502, 503, 504, or no answer at all (RFC
   * 5861 §4).
   *
   * @param request the directives of the request, which may allow it too
   */
  public boolean mayServeOnError(CacheControl request, long nowEpochSeconds) {
    int allowed = rules.staleIfErrorSeconds();
    if (!rules.hasSharedMaxAge()) {
      allowed =
          Math.max(
              allowed,
              Math.min(request.seconds(Directive.STALE_IF_ERROR), rules.maxStaleSeconds()));
    }
    return allowed > 0
        && !request.isCutOff()
        && mayServeStale()
        && -ttlSeconds(nowEpochSeconds) < allowed;
  }

  /** Whether it is no error, and somebody may get it without a validation before. */
  public boolean isGood(long nowEpochSeconds) {
    boolean isUsable =
        isReusable(nowEpochSeconds)
            || mayServeWhileRevalidating(nowEpochSeconds)
            || mayServeOnError(CacheControl.NONE, nowEpochSeconds);
    return isUsable && Storability.isOfResource(status());
  }

  /** Whether this status code is one that a stored response may take the place of (RFC 5861 §4). */
  public static boolean isError(int status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
  }

  /** Whether the client may have it although it is stale (RFC 9111 §5.2.1.2). */
  boolean mayServeStaleTo(CacheControl request, long nowEpochSeconds) {
    return mayServeStale()
        && !rules.hasSharedMaxAge()
        && -ttlSeconds(nowEpochSeconds) <= request.seconds(Directive.MAX_STALE)
        && -ttlSeconds(nowEpochSeconds) < rules.maxStaleSeconds();
  }

  private boolean mayServeStale() {
    return !rules.isValidatedAlways() && !rules.isValidatedOnceStale();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof StoredFacts facts
        && rules.equals(facts.rules)
        && responseTime == facts.responseTime
        && correctedInitialAge == facts.correctedInitialAge
        && date == facts.date
        && lastModified == facts.lastModified
        && Objects.equals(entityTag, facts.entityTag)
        && Objects.equals(oddLastModified, facts.oddLastModified)
        && tags.equals(facts.tags);
  }

  @Override
  public int hashCode() {
    return Objects.hash(rules, responseTime, date, lastModified, entityTag, tags);
  }

  @Override
  public String toString() {
    return "StoredFacts[responseTime=" + responseTime() + ", rules=" + rules + "]";
  }
}
