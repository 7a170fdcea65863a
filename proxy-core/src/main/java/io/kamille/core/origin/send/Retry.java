package io.kamille.core.origin.send;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.origin.wire.OriginProgress;

/**
 * Whether a request that failed is sent once more, and where. Pure.
 *
 * @param isPaid whether it counts as one of the retries, and is taken from their budget
 */
record Retry(Where where, boolean isPaid) {

  /*
   * A request is sent once more only where that cannot do harm: nothing of a response came, nothing
   * of the content was taken from the client, and either the method is idempotent or the origin did
   * nothing, or no connection was had at all (RFC 9110 §9.2.2). It goes to another origin if there
   * is one. Where there is none, an origin that just refused a connection is not asked again; but
   * one that closed a connection is, on a new one.
   *
   * A used connection that turns out closed says nothing about the origin: such an attempt is
   * repeated, whatever retries are left, and judges nobody. A connection is made for it, but while
   * it waits, a used one may come back first, and be closed, too. So this happens some times, and
   * not without end: an origin may close connections because of the request. Where a cookie or a
   * key binds requests to origins, it stays at its own; only if that one refuses it, it goes to
   * another, whatever retries are left.
   *
   * A time-out is not repeated: what was slow once will be slow twice, and the client has waited.
   */
  /** How many used connections may turn out closed for one request. */
  private static final int STALE_LIMIT = 3;

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
    boolean isOurs = why.kind() == Kind.CONNECTION_LIMIT_REACHED;
    return !isOurs && hasOthers && (isMoved || canPay) ? new Retry(Where.ANOTHER, !isMoved) : NONE;
  }

  /**
   * It was sent, and failed.
   *
   * @param isStale by {@link #isStale}
   * @param isBound whether it belongs to its origin, which is in
   * @param canPay whether retries and budget are left
   */
  static Retry afterAttempt(
      Failure why,
      OriginProgress progress,
      boolean isIdempotent,
      boolean isStale,
      boolean isBound,
      boolean canPay) {
    boolean isHarmless =
        switch (progress) {
          case NONE -> true;
          case UNKNOWN -> isIdempotent;
          case BEGUN -> false;
        };
    if (why.kind() != Kind.CONNECTION_TERMINATED || !isHarmless || !(isStale || canPay)) {
      return NONE;
    }
    return new Retry(isStale && isBound ? Where.SAME : Where.ANOTHER_OR_SAME, !isStale);
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
    return why.kind() == Kind.CONNECTION_TERMINATED
        && progress != OriginProgress.BEGUN
        && !onFresh
        && before < (isShared ? 1 : STALE_LIMIT);
  }
}
