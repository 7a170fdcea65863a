package io.kamille.core.auth;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.http.Fields;
import io.kamille.core.http.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A kind of credentials in {@code Authorization} (RFC 9110 §11). Any thread.
 *
 * @param <T> what they are checked against
 */
interface Scheme<T> {

  /**
   * What a check has found.
   *
   * @param refusal why the request goes no further; null if it passes
   * @param identity fields for the origin; never changed
   * @param seconds for which that it passes holds
   */
  record Found(@Nullable Failure refusal, Fields identity, long seconds) {

    static Found refused(Failure why) {
      return new Found(why, AuthStation.NOBODY, 0);
    }
  }

  /** A 401 (RFC 9110 §15.5.2). */
  static Failure unauthorized(String reason, String challenge) {
    return new Failure(
        Kind.HTTP_REQUEST_DENIED,
        StatusCode.UNAUTHORIZED,
        reason,
        0,
        new Failure.Field("WWW-Authenticate", challenge));
  }

  /** Its name, with the blank behind it. */
  String name();

  /** Names of the fields that tell the origin who the client is. */
  List<String> identity();

  /** The answer to a request without such credentials. */
  Failure none();

  /** What credentials are checked against. Blocks. */
  AuthSource<T> source(AuthThreads threads);

  /** Whether these are right. Off the loops. */
  Found check(String given, AuthSource<T> source, long nowEpochSeconds);

  /** Whether a check takes a second, and not a millisecond. */
  boolean isSlow();
}
