package io.kamille.core.h1;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import org.jspecify.annotations.Nullable;

/**
 * Reads a trailer section (RFC 9112 §7.1.2). Fields that must not stand there are dropped: framing,
 * routing, authentication, request modifiers, response controls and content format (RFC 9110
 * §6.5.1). Confined to its loop.
 */
public final class TrailerParser extends SectionParser {

  private static final FieldName[] FORBIDDEN = {
    FieldName.AGE,
    FieldName.AUTHORIZATION,
    FieldName.CACHE_CONTROL,
    FieldName.CONNECTION,
    FieldName.CONTENT_ENCODING,
    FieldName.CONTENT_LENGTH,
    FieldName.CONTENT_RANGE,
    FieldName.CONTENT_TYPE,
    FieldName.COOKIE,
    FieldName.DATE,
    FieldName.EXPECT,
    FieldName.EXPIRES,
    FieldName.FORWARDED,
    FieldName.HOST,
    FieldName.HTTP2_SETTINGS,
    FieldName.IF_MATCH,
    FieldName.IF_MODIFIED_SINCE,
    FieldName.IF_NONE_MATCH,
    FieldName.IF_RANGE,
    FieldName.IF_UNMODIFIED_SINCE,
    FieldName.KEEP_ALIVE,
    FieldName.LOCATION,
    FieldName.MAX_FORWARDS,
    FieldName.PRAGMA,
    FieldName.PROXY_AUTHENTICATE,
    FieldName.PROXY_AUTHORIZATION,
    FieldName.PROXY_CONNECTION,
    FieldName.RANGE,
    FieldName.RETRY_AFTER,
    FieldName.SET_COOKIE,
    FieldName.TE,
    FieldName.TRAILER,
    FieldName.TRANSFER_ENCODING,
    FieldName.UPGRADE,
    FieldName.VARY,
    FieldName.VIA,
    FieldName.WWW_AUTHENTICATE,
    FieldName.X_FORWARDED_FOR,
    FieldName.X_FORWARDED_HOST,
    FieldName.X_FORWARDED_PROTO
  };

  private final Fields trailers;

  TrailerParser() {
    Fields trailers = new Fields();
    super(trailers, HeadLimits.TRAILERS.fields(), HeadLimits.TRAILERS.headBytes(), false);
    this.trailers = trailers;
  }

  /** The trailer fields after {@code COMPLETE}; null if there are none. */
  @Nullable Fields trailers() {
    return trailers.size() == 0 ? null : trailers;
  }

  @Override
  int startLine(byte[] octets, int start, int end) {
    throw new IllegalStateException("a trailer section has no start line");
  }

  @Override
  @Nullable Failure finish() {
    removeForbidden(trailers);
    return null;
  }

  /** Removes the fields that must not stand in trailers. */
  public static void removeForbidden(Fields trailers) {
    for (FieldName name : FORBIDDEN) {
      trailers.remove(name);
    }
  }

  @Override
  Failure bad(String reason) {
    return Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, reason + " in the trailer section");
  }

  @Override
  Failure tooLarge(boolean inFields) {
    return Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, "a trailer section over its limit");
  }

  @Override
  int startLineLimit() {
    return 0;
  }
}
