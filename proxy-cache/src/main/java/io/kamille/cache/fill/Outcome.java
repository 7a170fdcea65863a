package io.kamille.cache.fill;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * What the response of a request in flight is to one that waits for it (RFC 9111 §4, §4.1).
 * Immutable.
 */
sealed interface Outcome {

  /** It is the response to this request, too: it is read along. */
  record Mine(Stage.Filling filling) implements Outcome {}

  /**
   * It is the response to requests with other selecting fields: this one asks the cache again, and
   * waits for one like itself.
   *
   * @param selecting which fields select, with the values that are not this request's
   */
  record AnotherVariants(SelectingFields selecting) implements Outcome {}

  /**
   * It is nobody's but the leader's, or there is none: this request asks the cache again.
   *
   * @param mayWait whether it makes sense to wait for another request
   */
  record Nobodys(boolean mayWait) implements Outcome {}

  /** The origin has no answer for anybody. */
  record Failed(Failure why) implements Outcome {}

  /**
   * The outcome for a request that has read nothing yet; null if it is not known. An authorized
   * request does not wait for another one: probably no response to it is shared (RFC 9111 §3.5).
   *
   * @param request borrowed
   * @param expected the selecting fields of the response before its head has come, if they are
   *     known
   */
  static @Nullable Outcome of(
      Stage stage, RequestHead request, @Nullable SelectingFields expected) {
    return switch (stage) {
      case Stage.Waiting() ->
          expected == null || expected.matches(request) ? null : new AnotherVariants(expected);
      case Stage.Filling filling -> of(filling, request);
      case Stage.Filled(var filling, _) -> of(filling, request);
      case Stage.Overflowing _ -> new Nobodys(false);
      case Stage.Broken _ -> new Nobodys(true);
      case Stage.Apart apart -> new Nobodys(!apart.isLike(request));
      case Stage.Again(var mayWait) -> new Nobodys(mayWait && !request.isAuthenticated());
      case Stage.Failed(var why) -> new Failed(why);
    };
  }

  private static Outcome of(Stage.Filling filling, RequestHead request) {
    if (!filling.selecting().matches(request)) {
      return new AnotherVariants(filling.selecting());
    }
    boolean isChallenge = filling.facts().status() == 401 && request.isAuthenticated();
    return isChallenge ? new Nobodys(false) : new Mine(filling);
  }
}
