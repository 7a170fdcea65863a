package io.kamille.cache.rules;

import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.EntityTag;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;

/**
 * The preconditions of a client, judged against a stored response that is about to be reused (RFC
 * 9111 §4.3.2, RFC 9110 §13). Stateless; any thread.
 *
 * <p>{@code If-Match} and {@code If-Unmodified-Since} are not for a cache to judge; {@link
 * ReuseRule} forwards them.
 */
public final class Preconditions {

  private static final long CONDITIONAL =
      Fields.mask(FieldName.IF_NONE_MATCH, FieldName.IF_MODIFIED_SINCE);

  /*
   * How much older than its Date a last-modified date must be for it to be a strong validator (RFC
   * 9110 §8.8.2.2). One second would do if one clock made both; a minute leaves room for two.
   */
  private static final int STRONG_DATE_SECONDS = 60;

  private Preconditions() {}

  /**
   * Whether 304 (Not Modified) is the answer, rather than the stored response. No garbage for tags.
   */
  public static boolean isNotModified(RequestHead request, StoredFacts stored) {
    Fields fields = request.fields();
    if (!areIn(request) || !isJudged(stored.status())) {
      return false;
    }
    return fields.has(FieldName.IF_NONE_MATCH)
        ? EntityTag.isKnown(fields, stored.entityTag())
        : isNotModifiedSince(fields, stored);
  }

  /** Whether the request has a condition that is judged here. */
  public static boolean areIn(RequestHead request) {
    return request.fields().hasAny(CONDITIONAL);
  }

  /** Conditions count only where the plain answer would succeed (RFC 9110 §13.2.1). */
  private static boolean isJudged(int status) {
    return status >= 200 && status < 300;
  }

  /**
   * {@code If-Modified-Since} against the last-modified date or else {@code Date} (§4.3.2). Several
   * lines, or what is no date, are ignored (RFC 9110 §13.1.3).
   */
  private static boolean isNotModifiedSince(Fields request, StoredFacts stored) {
    int index = request.indexOf(FieldName.IF_MODIFIED_SINCE);
    if (request.indexOf(FieldName.IF_MODIFIED_SINCE, index + 1) >= 0) {
      return false;
    }
    String text = request.valueAt(index);
    long since = HttpDate.parse(text, stored.responseTime());
    long lastModified = stored.lastModified();
    long modified = lastModified == HttpDate.INVALID ? stored.date() : lastModified;
    return since != HttpDate.INVALID && modified <= since;
  }

  /**
   * Whether a {@code Range} field is to be honoured: only for GET, where the answer would be 200,
   * and if {@code If-Range} holds (RFC 9110 §14.2, §13.1.5). Judge this after {@link
   * #isNotModified}.
   *
   * @param hasForms whether there may be coded forms beside it: then its last-modified date is
   *     theirs too and tells no octets from others (RFC 9110 §8.8.2.2), and who excludes content
   *     without coding gets no part, which would be one (§12.5.3)
   */
  public static boolean allowsRange(RequestHead request, StoredFacts stored, boolean hasForms) {
    Fields fields = request.fields();
    if (!fields.has(FieldName.RANGE)
        || request.method() != Method.GET
        || stored.status() != StatusCode.OK
        || (hasForms && AcceptedCodings.refuseIdentity(fields))) {
      return false;
    }
    String condition = fields.first(FieldName.IF_RANGE);
    return condition == null
        || (fields.count(FieldName.IF_RANGE) == 1 && holds(condition, stored, hasForms));
  }

  /** {@code If-Range}: strong comparison, or the very date (RFC 9110 §13.1.5). */
  private static boolean holds(String condition, StoredFacts stored, boolean hasForms) {
    if (EntityTag.isValid(condition)) {
      String tag = stored.entityTag();
      return tag != null && EntityTag.matchesStrongly(condition, tag);
    }
    return !hasForms
        && condition.equals(stored.lastModifiedText())
        && stored.date() - stored.lastModified() >= STRONG_DATE_SECONDS;
  }
}
