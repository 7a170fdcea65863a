package io.kamille.core.answer;

import io.kamille.core.http.ByteRange;
import io.kamille.core.http.EntityTag;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;

/**
 * The conditions and the range of a request, judged by the facts of a file, in the order of RFC
 * 9110 §13.2.2. Stateless; any thread.
 */
final class FileConditions {

  /*
   * A date is a strong validator if the file was not written within the second that it names, and
   * clocks differ (§8.8.2.2).
   */
  private static final int STRONG_DATE_SECONDS = 60;

  /** What becomes of a request. */
  enum Verdict {
    SEND,
    NOT_MODIFIED,
    PRECONDITION_FAILED
  }

  private FileConditions() {}

  static Verdict judge(RequestHead request, FileFacts file, long nowSeconds) {
    Fields fields = request.fields();
    if (fields.has(FieldName.IF_MATCH)) {
      if (!matchesStrongly(String.valueOf(fields.joined(FieldName.IF_MATCH)), file)) {
        return Verdict.PRECONDITION_FAILED;
      }
    } else if (isModifiedSince(fields, FieldName.IF_UNMODIFIED_SINCE, file, nowSeconds, false)) {
      return Verdict.PRECONDITION_FAILED;
    }
    boolean isKnown =
        fields.has(FieldName.IF_NONE_MATCH)
            ? EntityTag.isKnown(fields, file.entityTag())
            : !isModifiedSince(fields, FieldName.IF_MODIFIED_SINCE, file, nowSeconds, true);
    return isKnown ? Verdict.NOT_MODIFIED : Verdict.SEND;
  }

  private static boolean matchesStrongly(String list, FileFacts file) {
    return list.strip().equals("*")
        || (list.contains(file.entityTag()) && !list.contains("W/" + file.entityTag()));
  }

  /** {@code unless}: what holds where the field names no date, or stands there twice (§13.1.3). */
  private static boolean isModifiedSince(
      Fields fields, FieldName name, FileFacts file, long nowSeconds, boolean unless) {
    if (fields.count(name) != 1) {
      return unless;
    }
    long since = HttpDate.parse(fields.first(name), nowSeconds);
    return since == HttpDate.INVALID ? unless : file.modifiedSeconds() > since;
  }

  /** What of the file to send. One range counts; of several, the whole is sent (§14.2). */
  static ByteRange range(RequestHead request, FileFacts file, long nowSeconds) {
    Fields fields = request.fields();
    boolean counts =
        request.method() == Method.GET
            && (!fields.has(FieldName.IF_RANGE) || holds(fields, file, nowSeconds));
    return counts
        ? ByteRange.of(fields, file.lengthBytes())
        : new ByteRange(ByteRange.Kind.WHOLE, 0, file.lengthBytes(), file.lengthBytes());
  }

  /** {@code If-Range} (§13.1.5). */
  private static boolean holds(Fields fields, FileFacts file, long nowSeconds) {
    String condition = fields.first(FieldName.IF_RANGE);
    return fields.count(FieldName.IF_RANGE) == 1
        && (file.entityTag().equals(condition)
            || (file.lastModified().equals(condition)
                && nowSeconds - file.modifiedSeconds() >= STRONG_DATE_SECONDS));
  }
}
