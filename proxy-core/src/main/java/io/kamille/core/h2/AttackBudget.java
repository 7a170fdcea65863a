package io.kamille.core.h2;

/**
 * What the other side of a connection may still ask for without giving anything in return. Time is
 * given, in monotonic nanoseconds. Confined to its loop.
 */
public final class AttackBudget {

  /*
   * Each flood that HTTP/2 is known for has the same shape: something that costs its sender little
   * and us more. So each such act costs points, and there is one account for all of them: a mixture
   * of two floods is no cheaper than one. Points come back with time, with requests that come to
   * their end, and with content that was sent, so that who uses the connection never runs dry.
   */
  private static final int FIRST = 400;
  private static final int MOST = 1_000;
  private static final long NANOS_PER_POINT = 1_000_000_000L / 20;

  /** A control frame: it has to be looked at, or answered. */
  public static final int CONTROL = 1;

  /** A stream that its opener gave up before it was answered. */
  public static final int ABANDONED = 4;

  /** A stream that we had to reset for the other side's fault. */
  public static final int FAULTY = 10;

  private static final int FINISHED = 4;
  private static final int DATA_SENT = 10;
  private static final int MESSAGE_SENT = 4;
  private static final int LEAST_DATA = 256;

  private int points = FIRST;
  private long sinceNanos;

  /** A budget from this time on. */
  public AttackBudget(long nowNanos) {
    sinceNanos = nowNanos;
  }

  /** Takes points. Returns false once none are left: the connection has to end. */
  public boolean spend(int cost, long nowNanos) {
    if (points < cost) {
      refill(nowNanos);
    }
    points -= cost;
    return points >= 0;
  }

  private void refill(long nowNanos) {
    long earned = (nowNanos - sinceNanos) / NANOS_PER_POINT;
    if (earned > 0) {
      sinceNanos += earned * NANOS_PER_POINT;
      earn((int) Math.min(earned, MOST));
    }
  }

  /** A request came to its end. */
  public void finished() {
    earn(FINISHED);
  }

  /**
   * A frame of content was sent. A small one earns what its receiver may say to it, a PING and two
   * window updates, as clients of gRPC do. It earns nothing if more waits: a client that opens its
   * window octet by octet would be paid for it (CVE-2019-9511).
   *
   * @param isDry whether no more content waits on its stream
   */
  public void sentData(int bytes, boolean isDry) {
    if (bytes >= LEAST_DATA) {
      earn(DATA_SENT);
    } else if (isDry && bytes > 0) {
      earn(MESSAGE_SENT);
    }
  }

  private void earn(int more) {
    points = Math.min(MOST, points + more);
  }
}
