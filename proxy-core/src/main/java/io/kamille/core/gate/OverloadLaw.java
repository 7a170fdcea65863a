package io.kamille.core.gate;

import java.util.concurrent.TimeUnit;

/**
 * Until when in a turn a loop answers what is asked: what it comes to later is shed. Pure; confined
 * to one thread.
 */
public class OverloadLaw {

  /** Makes the law of one loop, for a target in nanoseconds, that sheds nothing yet. */
  @FunctionalInterface
  public interface Start {
    OverloadLaw at(long targetNanos, long nowNanos);
  }

  /*
   * A loop is overloaded once the shortest turn of a window is longer than the target, as in CoDel
   * (Nichols, Jacobson, "Controlling queue delay", 2012): a burst passes, a standing queue does
   * not. From then on no turn answers for longer than the target. This acts within the turn: a
   * share of requests, raised and lowered by what was seen before, swings, since what is shed now
   * comes back after seconds.
   *
   * How long a turn may be falls to the target slowly, from how long it was. Shedding the whole
   * queue at once would silence almost everybody, and bring all back at the same time.
   *
   * A window is judged after three turns at the soonest, so one long turn, a collector's pause for
   * example, is never all there is to see. The overload is over when for two seconds each window
   * had a turn of less than a quarter of the target: were it over at once, those who were told to
   * wait would come back to a loop that sheds nothing; were it over only when nothing is shed any
   * more, a pause now and then would keep it going. It is over as well when nothing was read for so
   * long, and the loop has looked once more since: after a pause of its own, in which it could not
   * read, the kernel has a queue for it that would be admitted whole.
   */
  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long HALVING_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final int CALM_PART = 4;
  private static final int LEAST_TURNS = 3;
  private static final double FORWARD_PART = 0.5;
  private static final long NEVER = Long.MIN_VALUE;

  private final long targetNanos;
  private double limitNanos = Double.POSITIVE_INFINITY;
  private long windowStartNanos;
  private long leastNanos = Long.MAX_VALUE;
  private int turns;
  private long lastTurnNanos;
  private long calmSinceNanos;
  private long unreadSinceNanos = NEVER;

  /**
   * Nothing is shed yet.
   *
   * @param targetNanos how long a turn may last; 0 for as long as it will
   */
  public OverloadLaw(long targetNanos, long nowNanos) {
    this.targetNanos = targetNanos;
    this.windowStartNanos = nowNanos;
    this.lastTurnNanos = nowNanos;
  }

  boolean isOverloaded() {
    return limitNanos != Double.POSITIVE_INFINITY;
  }

  /** Whether a request is shed that has waited for the loop so long. */
  public boolean sheds(long latenessNanos) {
    return (double) latenessNanos > limitNanos;
  }

  /** Whether one is that would be forwarded: in half of the time already. */
  public boolean shedsForward(long latenessNanos) {
    return (double) latenessNanos > limitNanos * FORWARD_PART;
  }

  /**
   * Nothing has been read since then. After two seconds no overload is left, once this has been
   * said a second time: between any two times the loop has polled.
   */
  public void unread(long nowNanos, long sinceNanos) {
    boolean isCalm = nowNanos - sinceNanos >= CALM_NANOS;
    if (isCalm && unreadSinceNanos == sinceNanos) {
      limitNanos = Double.POSITIVE_INFINITY;
    }
    unreadSinceNanos = isCalm ? sinceNanos : NEVER;
  }

  /**
   * A turn is over and the next begins.
   *
   * @param lengthNanos how long the last request of the turn had to wait for those before it
   * @return whether a window is over as well
   */
  public boolean turn(long nowNanos, long lengthNanos) {
    leastNanos = Math.min(leastNanos, lengthNanos);
    turns++;
    if (isOverloaded()) {
      lower(nowNanos);
    }
    lastTurnNanos = nowNanos;
    boolean isOver = nowNanos - windowStartNanos >= WINDOW_NANOS && turns >= LEAST_TURNS;
    if (isOver) {
      judge(nowNanos);
    }
    return isOver;
  }

  private void lower(long nowNanos) {
    double halvings = (double) (nowNanos - lastTurnNanos) / HALVING_NANOS;
    limitNanos = Math.max((double) targetNanos, limitNanos * Math.pow(0.5, halvings));
  }

  private void judge(long nowNanos) {
    if (leastNanos >= targetNanos / CALM_PART) {
      calmSinceNanos = nowNanos;
    }
    if (!isOverloaded() && leastNanos > targetNanos) {
      limitNanos = (double) leastNanos;
    } else if (isOverloaded() && nowNanos - calmSinceNanos >= CALM_NANOS) {
      limitNanos = Double.POSITIVE_INFINITY;
    }
    windowStartNanos = nowNanos;
    leastNanos = Long.MAX_VALUE;
    turns = 0;
  }
}
