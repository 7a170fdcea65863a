package io.kamille.perf.load;

import io.kamille.perf.load.UserResult.Count;

/**
 * What users do who want something each now and then: one request of each is under way at a time,
 * what they want meanwhile waits, and whoever is told to come back later does so, unless rude.
 * Knows no sockets and no clock. Confined to the client's thread.
 */
final class Users {

  /*
   * Times are nanoseconds after the beginning of the run. A user who was told to wait sends nothing
   * until then: what comes due in that time, and what waited behind the request, is turned away. So
   * a server that sheds is charged for everything that it does not answer.
   */

  private static final long NOTHING = -1;
  private static final int ROOM = 4;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final boolean areRude;
  private final long limitNanos;
  private final UserTally tally;
  private final long[] underWay;
  private final long[] silentUntil;
  private final NanosQueue[] waiting;
  private int busy;

  /**
   * Users with nothing to do.
   *
   * @param areRude whether they do not wait when told so
   * @param limitNanos after which a request counts as lost
   */
  Users(int count, boolean areRude, long limitNanos, UserTally tally) {
    this.areRude = areRude;
    this.limitNanos = limitNanos;
    this.tally = tally;
    underWay = new long[count];
    silentUntil = new long[count];
    waiting = new NanosQueue[count];
    for (int i = 0; i < count; i++) {
      underWay[i] = NOTHING;
      waiting[i] = new NanosQueue(ROOM);
    }
  }

  int count() {
    return underWay.length;
  }

  /** How many have a request under way; only behind one can others wait. */
  int busy() {
    return busy;
  }

  /** Whether a request of that user is under way. */
  boolean isBusy(int user) {
    return underWay[user] != NOTHING;
  }

  /** A user wants something. Returns whether it is to be sent now. */
  boolean want(int user, long intendedNanos) {
    tally.count(Count.OFFERED, intendedNanos);
    if (intendedNanos < silentUntil[user]) {
      tally.count(Count.TURNED_AWAY, intendedNanos);
      return false;
    }
    waiting[user].add(intendedNanos);
    return !isBusy(user) && next(user);
  }

  /** The right answer came. Returns whether the user has something else to be sent now. */
  boolean answered(int user, long nanos, boolean wasForwarded) {
    tally.right(end(user), nanos, wasForwarded);
    return next(user);
  }

  /**
   * The server answered that it is too busy. Returns as {@link #answered} does.
   *
   * @param retryAfterSeconds for how long it asks to be left alone; 0 if it does not
   */
  boolean shed(int user, long nanos, int retryAfterSeconds) {
    tally.count(Count.SHED, end(user));
    if (!areRude && retryAfterSeconds > 0) {
      silentUntil[user] = nanos + retryAfterSeconds * NANOS_PER_SECOND;
      while (!waiting[user].isEmpty()) {
        tally.count(Count.TURNED_AWAY, waiting[user].remove());
      }
    }
    return next(user);
  }

  /** The request failed. Returns as {@link #answered} does. */
  boolean failed(int user) {
    tally.count(Count.FAILED, end(user));
    return next(user);
  }

  /** What waits for too long is given up. */
  void giveUpWaiting(int user, long nanos) {
    while (!waiting[user].isEmpty() && nanos - waiting[user].peek() > limitNanos) {
      tally.count(Count.TIMED_OUT, waiting[user].remove());
    }
  }

  /** Whether the request under way takes too long; then {@link #timedOut} is to be called. */
  boolean isOverdue(int user, long nanos) {
    return isBusy(user) && nanos - underWay[user] > limitNanos;
  }

  /** The request under way is given up. Returns as {@link #answered} does. */
  boolean timedOut(int user) {
    tally.count(Count.TIMED_OUT, end(user));
    return next(user);
  }

  /** When the request under way should have been sent. */
  long intendedNanos(int user) {
    return underWay[user];
  }

  private boolean next(int user) {
    if (waiting[user].isEmpty()) {
      return false;
    }
    underWay[user] = waiting[user].remove();
    busy++;
    return true;
  }

  private long end(int user) {
    long intended = underWay[user];
    if (intended == NOTHING) {
      throw new IllegalStateException("nothing is under way");
    }
    underWay[user] = NOTHING;
    busy--;
    return intended;
  }
}
