package io.kamille.core.origin.send;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.origin.wire.OriginProgress;

/**
 * Whether a request that failed is sent once more, and where. Pure.
 *
 * @param isPaid whether it counts as one of the retries, and is taken from their budget
 */
record Retry(Where where, boolean isPaid) {

  /*
   * A request is sent once more only where that cannot do harm: nothing of a response came, all of
   * its content is at hand, and either the method is idempotent or the origin did nothing, or no
   * connection was had at all (RFC 9110 §9.2.2). It goes to another origin if there is one. Where
   * there is none, an origin that just refused a connection is not asked again; but one that closed
   * a connection is, on a new one.
   *
   * What an origin says it has not processed was not tried (RFC 9113 §8.7). To send it again is no
   * retry, and takes nothing from the budget; nobody is judged. An origin may refuse everything: so
   * this has an end, and then it counts. An origin that refuses every second stream fails one
   * request of four million then; ten times would be one of four thousand. The pauses between bound
   * what a refusing origin gets. A connection that ends after other requests refuses nothing: if
   * each takes a few, and many wait, a request may be left over by several in turn. So that counts
   * a fifth.
   *
   * A used connection that turns out closed says nothing about the origin: such an attempt is
   * repeated, whatever retries are left, and judges nobody. A connection is made for it, but while
   * it waits, a used one may come back first, and be closed, too. So this happens some times, and
   * not without end: an origin may close connections because of the request. Where a cookie or a
   * key binds requests to origins, it stays at its own; only if that one refuses it, it goes to
   * another, whatever retries are left.
   *
   * A reset stream says nothing about its connection (RFC 9113 §5.4.2). The retry may go there, and
   * the origin is judged.
   *
   * A time-out is not repeated: what was slow once will be slow twice, and the client has waited.
   */
  /** How many used connections may turn out closed for one request. */
  private static final int STALE_LIMIT = 3;

  /** How much being refused unprocessed costs; to be left over by a connection costs one. */
  static final int REFUSAL_COST = 5;

  /** How much of that one request may have, and be sent again for nothing. */
  private static final int UNTOUCHED_LIMIT = 20 * REFUSAL_COST;

  static final Retry NONE = new Retry(Where.NOWHERE, false);

  /** Which origin gets it. */
  enum Where {
    /** None: the client gets the failure. */
    NOWHERE,
    /** The same. */
    SAME,
    /** Another one; none if there is no other. */
    ANOTHER,
    /** Another one; the same if there is no other, unless it is known to be unreachable. */
    ANOTHER_OR_SAME
  }

  /**
   * No connection was had.
   *
   * @param hasOthers whether the upstream has other origins
   * @param isMoved whether it has left an idle connection that turned out closed
   * @param canPay whether retries and budget are left
   */
  static Retry withoutConnection(Failure why, boolean hasOthers, boolean isMoved, boolean canPay) {
    boolean isOurs = why.kind() == ErrorType.CONNECTION_LIMIT_REACHED;
    return !isOurs && hasOthers && (isMoved || canPay) ? new Retry(Where.ANOTHER, !isMoved) : NONE;
  }

  /**
   * It was sent, and failed.
   *
   * @param isFree by {@link #isStale} or {@link #isUntouched}
   * @param isBound whether it belongs to its origin, which is in
   * @param canPay whether retries and budget are left
   */
  static Retry afterAttempt(
      Failure why,
      OriginProgress progress,
      boolean isIdempotent,
      boolean isFree,
      boolean isBound,
      boolean canPay) {
    boolean isHarmless =
        switch (progress) {
          case LEFT, NONE -> true;
          case RESET, UNKNOWN -> isIdempotent;
          case BEGUN -> false;
        };
    if (why.kind() != ErrorType.CONNECTION_TERMINATED || !isHarmless || !(isFree || canPay)) {
      return NONE;
    }
    return new Retry(isFree && isBound ? Where.SAME : Where.ANOTHER_OR_SAME, !isFree);
  }

  /**
   * Whether the origin did nothing, and may be asked again without a retry.
   *
   * @param before what that has cost this request already
   */
  static boolean isUntouched(OriginProgress progress, int before) {
    return progress.isUntouched() && before < UNTOUCHED_LIMIT;
  }

  /** What it costs to have come no further; without meaning if the origin did something. */
  static int untouchedCost(OriginProgress progress) {
    return progress == OriginProgress.LEFT ? 1 : REFUSAL_COST;
  }

  /**
   * Whether it found a used connection closed, which says nothing about the origin.
   *
   * @param isShared whether other requests have it too: then it may be lent again, and the origin
   *     may fail there again, so that only the first time counts
   * @param before how often that has happened to this request
   */
  static boolean isStale(
      Failure why, OriginProgress progress, boolean onFresh, boolean isShared, int before) {
    return why.kind() == ErrorType.CONNECTION_TERMINATED
        && progress == OriginProgress.UNKNOWN
        && !onFresh
        && before < (isShared ? 1 : STALE_LIMIT);
  }
}
