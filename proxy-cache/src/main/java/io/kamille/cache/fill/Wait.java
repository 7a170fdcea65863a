package io.kamille.cache.fill;

/**
 * For how long a request may wait for the response of one forwarded before it (RFC 9111 §4).
 * Immutable.
 *
 * @param deadlineNanos a moment of the monotonic clock, if it waits {@link Kind#UNTIL} then
 */
public record Wait(Kind kind, long deadlineNanos) {

  /** How a wait ends. */
  enum Kind {
    NOT_BEGUN,
    UNTIL,
    TO_THE_END,
    OVER
  }

  /** It has not waited yet. */
  public static final Wait NOT_BEGUN = new Wait(Kind.NOT_BEGUN, 0);

  /** It waits as long as the request before it is under way. */
  static final Wait TO_THE_END = new Wait(Kind.TO_THE_END, 0);

  /** It does not wait any more. */
  public static final Wait OVER = new Wait(Kind.OVER, 0);

  /** This wait if it goes on, else a new one that long. */
  public Wait going(long nowNanos, long lengthNanos) {
    boolean isGoing =
        kind == Kind.TO_THE_END || (kind == Kind.UNTIL && deadlineNanos - nowNanos > 0);
    return isGoing ? this : new Wait(Kind.UNTIL, nowNanos + lengthNanos);
  }

  public boolean isBegun() {
    return kind != Kind.NOT_BEGUN;
  }

  public boolean isOver() {
    return kind == Kind.OVER;
  }

  boolean isTimed() {
    return kind == Kind.UNTIL;
  }
}
