package io.kamille.core.auth;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.Fields;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * What a check of credentials has found.
 *
 * @param refusal why the request goes no further; null if it passes
 * @param identity fields for the origin; never changed
 * @param seconds for which that it passes holds
 * @param basis what must not change while it does; null if nothing else can
 */
record Found(@Nullable Failure refusal, Fields identity, long seconds, @Nullable Object basis) {

  Found(@Nullable Failure refusal, Fields identity, long seconds) {
    this(refusal, identity, seconds, null);
  }

  static Found refused(Failure why) {
    return new Found(why, AuthStation.NOBODY, 0);
  }

  /** A 401 (RFC 9110 §15.5.2). */
  static Failure unauthorized(String reason, String challenge) {
    return new Failure(
        ErrorType.HTTP_REQUEST_DENIED,
        StatusCode.UNAUTHORIZED,
        reason,
        0,
        new Failure.Field("WWW-Authenticate", challenge));
  }
}
