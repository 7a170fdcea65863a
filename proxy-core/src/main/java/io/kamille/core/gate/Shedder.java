package io.kamille.core.gate;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** Sheds requests of one loop while it is late. Confined to its loop, unless a method says more. */
public final class Shedder {

  /*
   * How late a loop is, is how long the last of the requests that one poll brought had to wait for
   * those before it: the time from the first read of a turn to the last. A pause before the poll is
   * no part of it, so a paced loop is not taken for a late one. Nothing is measured for it: the
   * time of a read is looked at anyway, and the number of the poll tells the turns apart.
   *
   * A request is judged by how long it has waited for the loop itself: one that was read, since its
   * turn began; one that waited for something else, an answer before it or the end of a hold, since
   * that was over. What goes on after it was looked at, such as a request that comes back from the
   * disk, is under way and not late.
   */
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The longest time for which a client is told to wait. */
  public static final int MOST_RETRY_AFTER_SECONDS = 3;

  private final LongSupplier polls;
  private final LongAdder shedAtOnce;
  private final LongAdder shedForwards;
  private final SplittableRandom random = new SplittableRandom();
  private final OverloadLaw.Start laws;
  private OverloadLaw law;
  private long lawTargetNanos;
  private long turn;
  private long turnStartNanos;
  private long lastReadNanos;
  private long latenessNanos;
  private boolean sweptSincePublished;
  // Of the window
  private int asked;
  private int shed;
  private int forwards;
  private int forwardsShed;
  // Written by any thread
  private volatile long targetNanos;
  // Written by the loop
  private volatile double measuredShare;

  Shedder(
      LongSupplier polls,
      long targetNanos,
      OverloadLaw.Start laws,
      LongAdder shedAtOnce,
      LongAdder shedForwards) {
    this.polls = polls;
    this.laws = laws;
    this.law = laws.at(0, 0);
    this.targetNanos = targetNanos;
    this.shedAtOnce = shedAtOnce;
    this.shedForwards = shedForwards;
  }

  /** How late the loop may be, in nanoseconds; 0 to shed nothing. Any thread. */
  void target(long nanos) {
    targetNanos = nanos;
  }

  /**
   * What was shed lately: of requests to be forwarded up to 1, of all what is over 1. Any thread.
   */
  public double share() {
    return measuredShare;
  }

  /** The loop begins to read from a client. */
  public void read(long nowNanos) {
    long target = targetNanos;
    if (target != lawTargetNanos) {
      law = laws.at(target, nowNanos);
      lawTargetNanos = target;
      beginTurn(nowNanos, polls.getAsLong());
      publish();
    }
    if (target != 0) {
      measure(nowNanos, polls.getAsLong());
    }
    latenessNanos = lastReadNanos - turnStartNanos;
  }

  /** The loop comes, outside a read, to a request that could have been looked at since then. */
  public void comesTo(long readySinceNanos, long nowNanos) {
    latenessNanos = nowNanos - readySinceNanos;
  }

  /** What the loop does next is for no request that it has just come to. */
  public void done() {
    latenessNanos = 0;
  }

  /** Looks at what reads alone would not show: that there were none. Called every second or so. */
  public void sweep(long nowNanos) {
    law.unread(nowNanos, lastReadNanos);
    if (sweptSincePublished) {
      publish();
    }
    sweptSincePublished = true;
  }

  private void measure(long now, long poll) {
    if (poll != turn) {
      if (law.turn(now, lastReadNanos - turnStartNanos)) {
        publish();
      }
      beginTurn(now, poll);
    }
    lastReadNanos = now;
  }

  private void beginTurn(long now, long poll) {
    turn = poll;
    turnStartNanos = now;
    lastReadNanos = now;
  }

  private void publish() {
    double share =
        shed > 0 ? 1 + (double) shed / asked : (double) forwardsShed / Math.max(1, forwards);
    if (share != measuredShare) {
      measuredShare = share;
    }
    asked = 0;
    shed = 0;
    forwards = 0;
    forwardsShed = 0;
    sweptSincePublished = false;
  }

  /** Whether a request is shed before anybody has looked at it; counted. */
  public boolean shedsAtOnce() {
    boolean sheds = law.sheds(latenessNanos);
    asked++;
    if (sheds) {
      shed++;
      shedAtOnce.increment();
    }
    return sheds;
  }

  /** Whether a request is shed that would be forwarded; counted. */
  boolean shedsForward() {
    boolean sheds = law.shedsForward(latenessNanos);
    forwards++;
    if (sheds) {
      forwardsShed++;
      shedForwards.increment();
    }
    return sheds;
  }

  /** After how many seconds a client that is shed may ask again: not the same for all. */
  public int retryAfterSeconds() {
    return 1 + random.nextInt(MOST_RETRY_AFTER_SECONDS);
  }

  /** For how long no request is taken from it: never for longer than it was told to wait. */
  public long holdNanos(int retryAfterSeconds) {
    return retryAfterSeconds * SECOND_NANOS - random.nextLong(SECOND_NANOS);
  }
}
