package io.kamille.cache.serve;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes the head of a 304 from the head of the response it stands for (RFC 9110 §15.4.5). */
public final class NotModified {

  private static final Set<FieldName> KEPT =
      EnumSet.of(
          FieldName.CACHE_CONTROL,
          FieldName.CACHE_STATUS,
          FieldName.CDN_CACHE_CONTROL,
          FieldName.CONTENT_LOCATION,
          FieldName.DATE,
          FieldName.ETAG,
          FieldName.EXPIRES,
          FieldName.VARY,
          FieldName.VIA);

  private NotModified() {}

  /** A new head for that request; {@code full} is borrowed. */
  public static ResponseHead of(ResponseHead full, RequestHead request) {
    Fields from = full.fields();
    Fields to = new Fields();
    boolean isOnlyValidator = !from.has(FieldName.ETAG);
    for (int i = 0; i < from.size(); i++) {
      FieldName name = from.knownAt(i);
      boolean isKept = name == FieldName.LAST_MODIFIED ? isOnlyValidator : isKept(name);
      boolean isTold = isOfTags(name) && request.sender() != Sender.CLIENT;
      if (isKept || isTold) {
        to.addFrom(from, i);
      }
    }
    return ResponseHead.of(StatusCode.NOT_MODIFIED, to);
  }

  private static boolean isOfTags(@Nullable FieldName name) {
    return name == FieldName.CACHE_TAG || name == FieldName.SURROGATE_KEY;
  }

  private static boolean isKept(@Nullable FieldName name) {
    return name != null && KEPT.contains(name);
  }
}
