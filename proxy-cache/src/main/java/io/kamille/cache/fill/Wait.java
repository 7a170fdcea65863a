package io.kamille.cache.fill;

import io.kamille.cache.rules.SelectingFields;
import org.jspecify.annotations.Nullable;

/**
 * For how long a request may wait for the response of one forwarded before it (RFC 9111 §4).
 * Immutable.
 *
 * @param deadlineNanos a moment of the monotonic clock, until which it waits or has waited first
 * @param selecting which request fields select, learned from the response it has waited for, which
 *     was another variant's; null if it has learned nothing
 */
public record Wait(End kind, long deadlineNanos, @Nullable SelectingFields selecting) {

  /** How a wait ends. */
  enum End {
    NOT_BEGUN,
    UNTIL,
    TO_THE_END,
    OVER
  }

  /** It has not waited yet. */
  public static final Wait NOT_BEGUN = new Wait(End.NOT_BEGUN, 0, null);

  /** It does not wait any more. */
  public static final Wait OVER = new Wait(End.OVER, 0, null);

  /** This wait if it goes on, else a new one that long. */
  public Wait going(long nowNanos, long lengthNanos) {
    boolean isGoing = kind == End.TO_THE_END || (kind == End.UNTIL && deadlineNanos - nowNanos > 0);
    return isGoing ? this : new Wait(End.UNTIL, nowNanos + lengthNanos, selecting);
  }

  /** The same as long as the request before it is under way. */
  Wait toTheEnd() {
    return new Wait(End.TO_THE_END, deadlineNanos, selecting);
  }

  /**
   * The same for a response whose fields are known; it is {@link #going} to have a limit again. A
   * request that learns of other fields a second time waits no more: an origin may name others each
   * time.
   */
  Wait forLike(SelectingFields learned) {
    return selecting == null ? new Wait(End.UNTIL, deadlineNanos, learned) : OVER;
  }

  public boolean isBegun() {
    return kind != End.NOT_BEGUN;
  }

  public boolean isOver() {
    return kind == End.OVER;
  }

  boolean isTimed() {
    return kind == End.UNTIL;
  }
}
