package io.kamille.cache.fill;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.StoredOctets;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;

/** How far a request in flight has come, as far as its followers are concerned. Immutable. */
sealed interface Stage {

  /** Nothing is known yet. */
  record Waiting() implements Stage {}

  /**
   * A storable response is being filled; followers read along.
   *
   * @param head what is stored of it, with Age; for reading only: followers send copies
   * @param octets what the content is written into; the leader's lease lasts as long as this stage
   * @param contentOffset where in the octets the content begins
   * @param contentLength octets to come, or {@code Reply.UNKNOWN_LENGTH}
   * @param selecting the request fields that select this response (RFC 9111 §4.1)
   * @param facts what decides whether the response may be reused
   * @param ttlSeconds how long it stays fresh
   */
  record Filling(
      ResponseHead head,
      StoredOctets octets,
      long contentOffset,
      long contentLength,
      SelectingFields selecting,
      StoredFacts facts,
      long ttlSeconds)
      implements Stage {}

  /** All content is there. */
  record Filled(Filling filling, long contentLength) implements Stage {}

  /**
   * The rest of the content is not stored: who has begun gets it from a window, the others go to
   * the origin alone.
   *
   * @param storedLength octets of content up to there; the leader's lease has ended
   */
  record Overflowing(Filling filling, long storedLength) implements Stage {}

  /** The content broke off: who has begun must break off too, the others ask again. */
  record Broken(Failure why) implements Stage {}

  /**
   * The response is not to be shared: everybody like the leader goes to the origin alone, the
   * others ask the cache again.
   *
   * @param hasCookie whether the leader's request has Cookie: the followers like it are those for
   *     which that is the same
   */
  record Apart(boolean hasCookie) implements Stage {

    static Apart of(RequestHead leader) {
      return new Apart(hasCookie(leader));
    }

    /** Whether a request is like the leader's. */
    boolean isLike(RequestHead request) {
      return hasCookie(request) == hasCookie;
    }

    /** Whether the origin may know the user, who then gets answers of his own. */
    static boolean hasCookie(RequestHead request) {
      return request.fields().has(FieldName.COOKIE);
    }
  }

  /**
   * Nothing is shared, but something has changed: everybody asks the cache again.
   *
   * @param mayWait whether it makes sense to wait for another request
   */
  record Again(boolean mayWait) implements Stage {}

  /** The origin's answer is that it has none: it goes for everybody. */
  record Failed(Failure why) implements Stage {}
}
