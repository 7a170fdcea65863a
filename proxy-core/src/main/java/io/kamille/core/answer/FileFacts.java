package io.kamille.core.answer;

import io.kamille.core.http.ByteRange;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.EntityTag;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * What is said of a file in responses, and judged by its conditions and ranges in requests.
 *
 * @param lengthBytes of what is sent, in its coding
 * @param modifiedSeconds when it was last written (epoch)
 * @param entityTag a strong one
 * @param mediaType of the file without coding
 * @param coding of the compressed file that stands for it, or null
 * @param varies whether other requests may get another coding
 */
record FileFacts(
    long lengthBytes,
    long modifiedSeconds,
    String entityTag,
    String mediaType,
    @Nullable ContentCoding coding,
    boolean varies) {

  /*
   * A date is a strong validator if the file was not written within the second that it names, and
   * clocks differ (§8.8.2.2).
   */
  private static final int STRONG_DATE_SECONDS = 60;

  /*
   * Archives and reproducible builds give all their files one date: 0, 1, 1980-01-01 as the first
   * of zip, or 1985-10-26 as npm. No file on this machine is older than 1990, so these are no dates
   * of a change. Nor is one to come, which must not be sent (§8.8.2.1).
   */
  private static final long EARLIEST_SECONDS = 631_152_000;

  /** What becomes of a request. */
  enum Verdict {
    SEND,
    NOT_MODIFIED,
    PRECONDITION_FAILED
  }

  private boolean isDated(long nowSeconds) {
    return modifiedSeconds >= EARLIEST_SECONDS && modifiedSeconds <= nowSeconds;
  }

  /** A head with these facts. */
  ResponseHead head(int status, long nowSeconds) {
    ResponseHead head = ResponseHead.of(status, "ETag", entityTag);
    if (isDated(nowSeconds)) {
      head.fields().add(FieldName.LAST_MODIFIED, HttpDate.format(modifiedSeconds));
    }
    if (varies) {
      head.fields().add("Vary", "Accept-Encoding");
    }
    if (status != 304) {
      head.fields().add("Content-Type", mediaType).add("Accept-Ranges", "bytes");
      if (coding != null) {
        head.fields().add("Content-Encoding", coding.token());
      }
    }
    return head;
  }

  /** What becomes of a request for the file, in the order of RFC 9110 §13.2.2. */
  Verdict judge(RequestHead request, long nowSeconds) {
    Fields fields = request.fields();
    if (fields.has(FieldName.IF_MATCH)) {
      if (!matchesStrongly(String.valueOf(fields.joined(FieldName.IF_MATCH)))) {
        return Verdict.PRECONDITION_FAILED;
      }
    } else if (isModifiedSince(fields, FieldName.IF_UNMODIFIED_SINCE, nowSeconds, false)) {
      return Verdict.PRECONDITION_FAILED;
    }
    boolean isKnown =
        fields.has(FieldName.IF_NONE_MATCH)
            ? EntityTag.isKnown(fields, entityTag)
            : !isModifiedSince(fields, FieldName.IF_MODIFIED_SINCE, nowSeconds, true);
    return isKnown ? Verdict.NOT_MODIFIED : Verdict.SEND;
  }

  private boolean matchesStrongly(String list) {
    return list.strip().equals("*")
        || (list.contains(entityTag) && !list.contains("W/" + entityTag));
  }

  /** {@code unless}: what holds where there are not two dates to compare (§13.1.3, §13.1.4). */
  private boolean isModifiedSince(Fields fields, FieldName name, long nowSeconds, boolean unless) {
    if (fields.count(name) != 1 || !isDated(nowSeconds)) {
      return unless;
    }
    long since = HttpDate.parse(fields.first(name), nowSeconds);
    return since == HttpDate.INVALID ? unless : modifiedSeconds > since;
  }

  /** What of the file to send. One range counts; of several, the whole is sent (§14.2). */
  ByteRange range(RequestHead request, long nowSeconds) {
    Fields fields = request.fields();
    boolean counts =
        request.method() == Method.GET
            && (!fields.has(FieldName.IF_RANGE) || holds(fields, nowSeconds));
    return counts
        ? ByteRange.of(fields, lengthBytes)
        : new ByteRange(ByteRange.Outcome.WHOLE, 0, lengthBytes, lengthBytes);
  }

  /** {@code If-Range} (§13.1.5). */
  private boolean holds(Fields fields, long nowSeconds) {
    String condition = fields.first(FieldName.IF_RANGE);
    return fields.count(FieldName.IF_RANGE) == 1
        && (entityTag.equals(condition)
            || (isDated(nowSeconds)
                && HttpDate.format(modifiedSeconds).equals(condition)
                && nowSeconds - modifiedSeconds >= STRONG_DATE_SECONDS));
  }
}
