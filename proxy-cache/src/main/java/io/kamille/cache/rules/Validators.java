package io.kamille.cache.rules;

import io.kamille.core.http.EntityTag;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * The validators of a stored response at work toward the origin: asking whether it is still good,
 * and whether the answer is about it (RFC 9111 §4.3). Stateless; any thread.
 */
public final class Validators {

  private Validators() {}

  /**
   * Makes a request one that validates {@code stored} (§4.3.1): both its validators, and none of
   * the client's preconditions or ranges.
   */
  public static void makeConditional(Fields request, StoredFacts stored) {
    makeUnconditional(request);
    String tag = stored.entityTag();
    if (tag != null) {
      request.add(FieldName.IF_NONE_MATCH, tag);
    }
    String lastModified = stored.lastModifiedText();
    if (lastModified != null) {
      request.add(FieldName.IF_MODIFIED_SINCE, lastModified);
    }
  }

  /**
   * Makes a request one for the complete response, so that the answer can be stored whatever the
   * client has or wants of it. Only for requests the cache has {@linkplain ReuseRule a say in}.
   */
  public static void makeUnconditional(Fields request) {
    request.remove(FieldName.IF_NONE_MATCH);
    request.remove(FieldName.IF_MODIFIED_SINCE);
    request.remove(FieldName.IF_RANGE);
    request.remove(FieldName.RANGE);
  }

  /**
   * Whether a 304 is about {@code stored}, the only response that was to be validated (§4.3.4). If
   * not, it must not be used, and the request goes out again {@linkplain #makeUnconditional without
   * conditions}.
   *
   * <p>A strong tag must be the same; else what validators there are must agree, at least one. A
   * 304 without any can only mean what was asked about, however meagre it is.
   */
  public static boolean selects(ResponseHead notModified, StoredFacts stored) {
    String tag = entityTag(notModified);
    String storedTag = stored.entityTag();
    if (tag != null && !EntityTag.isWeak(tag)) {
      return storedTag != null && EntityTag.matchesStrongly(tag, storedTag);
    }
    long lastModified = lastModified(notModified, stored);
    if (tag == null && !isKnown(lastModified)) {
      return true;
    }
    boolean isSameDate = isKnown(lastModified) && lastModified == stored.lastModified();
    if (tag != null && storedTag != null) {
      boolean isOtherDate = isKnown(lastModified) && isKnown(stored.lastModified()) && !isSameDate;
      return EntityTag.matchesWeakly(tag, storedTag) && !isOtherDate;
    }
    return isSameDate;
  }

  /**
   * Whether a 304 is about {@code stored} too, which its request selects but did not ask about: it
   * has the same strong validator (§4.3.4).
   */
  public static boolean sharesStrongTag(ResponseHead notModified, StoredFacts stored) {
    String tag = entityTag(notModified);
    String storedTag = stored.entityTag();
    return tag != null && storedTag != null && EntityTag.matchesStrongly(tag, storedTag);
  }

  private static boolean isKnown(long date) {
    return date != HttpDate.INVALID;
  }

  /**
   * Whether a 200 to HEAD shows by its validators that {@code stored} is still good (§4.3.5). A
   * length alone shows nothing: other content may be as long.
   *
   * @param length octets of content that {@code head} tells of, or -1
   * @param storedLength octets of content stored
   */
  public static boolean confirms(
      ResponseHead head, long length, StoredFacts stored, long storedLength) {
    return head.status() == StatusCode.OK
        && (head.has(FieldName.ETAG) || head.has(FieldName.LAST_MODIFIED))
        && !contradicts(head, length, stored, storedLength);
  }

  /**
   * Whether a response to HEAD shows that {@code stored} is no longer good, so that it is to be
   * considered stale (§4.3.5): status code, a validator or the length differs.
   *
   * @param length octets of content that {@code head} tells of, or -1
   * @param storedLength octets of content stored
   */
  public static boolean contradicts(
      ResponseHead head, long length, StoredFacts stored, long storedLength) {
    String tag = head.field(FieldName.ETAG);
    return head.status() != stored.status()
        || (tag != null && !tag.equals(stored.entityTag()))
        || (head.has(FieldName.LAST_MODIFIED)
            && lastModified(head, stored) != stored.lastModified())
        || (length >= 0 && length != storedLength);
  }

  private static @Nullable String entityTag(ResponseHead head) {
    String tag = head.field(FieldName.ETAG);
    return EntityTag.isValid(tag) ? tag : null;
  }

  private static long lastModified(ResponseHead head, StoredFacts stored) {
    return HttpDate.parse(head.field(FieldName.LAST_MODIFIED), stored.responseTime());
  }
}
