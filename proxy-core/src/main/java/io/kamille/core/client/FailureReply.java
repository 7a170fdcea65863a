package io.kamille.core.client;

import io.kamille.core.answer.RequestId;
import io.kamille.core.answer.SecurityFields;
import io.kamille.core.exchange.ErrorPages;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Our own answer to a request that failed.
 *
 * @param head without framing fields
 * @param content plain text, or a page of the route
 */
@SuppressWarnings("ArrayRecordComponent") // sent once, and compared with nothing
public record FailureReply(ResponseHead head, byte[] content) {

  /**
   * The answer that says {@code failure}.
   *
   * @param notes of the exchange, if one was begun
   * @param isSecure whether the request came by https
   */
  public static FailureReply of(Failure failure, @Nullable ExchangeNotes notes, boolean isSecure) {
    ErrorPages.Page page = notes == null ? null : notes.errorPages().find(failure.status());
    ResponseHead head =
        ResponseHead.of(
            failure.status(),
            "Content-Type",
            page == null ? "text/plain; charset=iso-8859-1" : page.type(),
            "Cache-Control",
            "no-store",
            "Proxy-Status",
            failure.proxyStatus());
    Failure.Field own = failure.field();
    if (own != null) {
      head.fields().add(own.name(), own.value());
    } else if (failure.status() == StatusCode.METHOD_NOT_ALLOWED) {
      head.fields().add(FieldName.ALLOW, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    }
    if (failure.retryAfterSeconds() > 0) {
      head.fields().add(FieldName.RETRY_AFTER, Integer.toString(failure.retryAfterSeconds()));
    }
    String cacheStatus = cacheStatus(notes);
    if (!cacheStatus.isEmpty()) {
      head.fields().add(FieldName.CACHE_STATUS, cacheStatus);
    }
    if (notes != null && !notes.requestId().isEmpty()) {
      head.fields().add(RequestId.NAME, notes.requestId());
    }
    if (notes != null && notes.hasSecurityFields()) {
      SecurityFields.addTo(head.fields(), isSecure);
    }
    if (notes != null) {
      notes.cookies().forEach(cookie -> head.fields().add(FieldName.SET_COOKIE, cookie));
    }
    return new FailureReply(head, page == null ? text(failure) : page.content());
  }

  private static byte[] text(Failure failure) {
    String status = failure.status() + " " + StatusCode.reason(failure.status());
    return (status + "\n" + failure.publicReason() + "\n").getBytes(StandardCharsets.ISO_8859_1);
  }

  /** What the cache noted, or that no cache was asked because no route took the request. */
  private static String cacheStatus(@Nullable ExchangeNotes notes) {
    if (notes == null) {
      return "";
    }
    return notes.cacheStatus().isEmpty() && notes.route().isEmpty()
        ? ExchangeNotes.REFUSED
        : notes.cacheStatus();
  }
}
